package view

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// row says what is to be read of the item at index i.
func (b *builder) row(s *rules.Subject, answers *answers, i int) Row {
	it := &s.Items[i]
	row := Row{Item: i, Stored: it, Key: s.ItemRef(i).Row(), Depth: s.Replay.Steps[i].Depth, Who: who(it)}
	if it.Body != nil {
		row.Text, row.Thought = it.Body.Text, it.Body.Reasoning
	}
	switch it.Kind {
	case session.Message:
		row.Calls = answers.calls(i)
		row.Results, row.Marked = answers.results(i)
	case session.Summary:
		row.Label = summaryLabel(s.Session, i, len(row.Text))
	case session.Other:
		row.Label, row.Text = otherLabel(s.Session, i)
	}
	row.Notes = b.notes[s.At(s.Place(i))]
	row.Flags = flagsOf(it)
	row.Folded = len(row.Results) > 0 && len(row.Notes) == 0 && it.Flags&^session.Synthetic == 0 && row.Text == "" && answers.folds(i)
	return row
}

// who is the speaker in words.
func who(it *session.Item) string {
	switch {
	case it.Kind != session.Message:
		return ""
	case it.Role == session.User || it.Role == session.System:
		return it.Role.String()
	case it.Agent != "":
		return it.Agent
	case it.Role == session.NoRole:
		return "?"
	}
	return it.Role.String()
}

// summaryLabel says which items a summary stands for.
func summaryLabel(s *session.Session, i, size int) string {
	if size == 0 {
		return "a summary without text"
	}
	return fmt.Sprintf("summary of %s, %s", itemWords(coveredTo(s, i)), ui.Bytes(int64(size)))
}

// itemWords name the first n items.
func itemWords(n int) string {
	switch n {
	case 0:
		return "nothing before it"
	case 1:
		return "item 0"
	}
	return fmt.Sprintf("items 0–%d", n-1)
}

// coveredTo is the index behind the last item that the summary at index i
// stands for: the start of the tail that it keeps, or the summary itself.
func coveredTo(s *session.Session, i int) int {
	upTo := session.Session{Items: s.Items[:i+1]}
	return min(upTo.Start(), i)
}

// flagsOf words the facts about an item that change how it is read.
func flagsOf(it *session.Item) []string {
	var words []string
	for _, f := range []struct {
		flag session.Flags
		word string
	}{
		{session.Implicit, "implicit"},
		{session.Unfinished, "unfinished"},
		{session.Archived, "archived"},
		{session.Rewound, "rewound"},
		{session.Compacted, "covered by a summary"},
		{session.Unshown, "shown to no model"},
		{session.Synthetic, "added by a repair"},
		{session.Blank, "blank"},
	} {
		if it.Flags.Has(f.flag) {
			words = append(words, f.word)
		}
	}
	return words
}
