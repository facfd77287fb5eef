package damage

import (
	"math"
	"strconv"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var positionCollision = rules.Rule{
	ID: "SC011", Name: "position-collision", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "positions, or times that set the order, are negative or used twice",
	Run: func(p *rules.Pass) {
		for _, s := range p.Subjects {
			reportPositions(p, s)
		}
		rules.ReportFaults(session.SharedKey)(p)
	},
}

func reportPositions(p *rules.Pass, s *rules.Subject) {
	var bad []int
	negative, doubled := 0, 0
	for i := range s.Items {
		switch {
		case s.Items[i].Position < 0 && !p.Store.Renumbers: // else it is a number like any other
			bad = append(bad, i)
			negative++
		case i > 0 && s.Items[i].Position == s.Items[i-1].Position && s.TickBits == 0: // else they are made, and these bits ran out
			bad = append(bad, i)
			doubled++
		}
	}
	p.ReportItems(s.Session, bad, func(f *rules.Finding) {
		f.Whole = true
		var parts []string
		if negative > 0 {
			parts = append(parts, rules.CountedNoun(negative, "item")+rules.VerbForm(negative, " has", " have")+" a negative position or time")
		}
		if doubled > 0 {
			parts = append(parts, rules.CountedNoun(doubled, "item")+rules.VerbForm(doubled, " has", " have")+" the same position or time as the item before")
		}
		f.Message = rules.JoinWords(parts)
		if doubled > 0 {
			f.AddSentence(shownAs(p.Store))
		}
		fix := rules.Fix{Title: "number the positions in the order shown", Safety: rules.Lossless, Edits: risingEdits(s.Session)}
		if p.Store.TurnsTies && doubled > 0 {
			apart := "a microsecond apart"
			if s.Tick == time.Millisecond {
				apart = "a millisecond apart"
			}
			fix.Title, fix.Edits = "put events of the same time back in the order in which they were written, "+apart, turnEdits(s.Session)
		}
		f.Fixes = []rules.Fix{fix}
	})
}

// shownAs says what becomes of the order of items with one position.
func shownAs(store *session.Store) string {
	switch {
	case store.TiesByKey:
		return "The database promises no order for them, and nothing tells which was written first"
	case store.TiesMove && store.TurnsTies:
		return "The runtime loads them in the reverse of the order in which they lie in the table, and an update of one changes it"
	case store.TiesMove:
		return "They come in the order in which they lie in the table, and an update of one changes it"
	case store.TurnsTies:
		return "The runtime loads them in the reverse of the order in which they were written"
	}
	return "Their order is not guaranteed; sessctl shows the one that runtimes load today"
}

// turnEdits are the edits that turn every run of items with one position round. Where
// one is moved, the draft makes the positions rise.
func turnEdits(s *session.Session) []session.Edit {
	var edits []session.Edit
	for from := 0; from < len(s.Items); {
		to := from + 1
		for to < len(s.Items) && s.Items[to].Position == s.Items[from].Position {
			to++
		}
		for i := to - 2; i >= from; i-- {
			edits = append(edits, session.Edit{Op: session.Move, Ref: s.ItemRef(i), To: s.ID, After: s.ItemRef(i + 1)})
		}
		from = to
	}
	return edits
}

// risingEdits are the edits that make every position greater than the one before it,
// beginning with 0 at the least. Most items keep theirs: a position can be a time.
func risingEdits(s *session.Session) []session.Edit {
	var edits []session.Edit
	last := int64(-1)
	for i := range s.Items {
		at := s.Items[i].Position
		if at <= last || at == math.MaxInt64 { // where a value stands that is no number
			at = last + 1
			value := strconv.FormatInt(at, 10)
			edits = append(edits, session.Edit{Op: session.Set, Ref: s.ItemRef(i), Field: session.FieldPosition, Value: &value})
		}
		last = at
	}
	return edits
}
