package branches

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// label is a branch that is a path of agents, with the items that carry it.
type label struct {
	text     string
	segments []string
	items    []int // in stored order
}

// labels are the branches of a session, each before those below it. Sets of
// tokens and forks are no paths and left out, and so is what no model sees.
func labels(s *rules.Subject) []label {
	var items []int
	for i := range s.Items {
		if it := &s.Items[i]; it.Branch != "" && it.Kind != session.Other {
			items = append(items, i)
		}
	}
	return labelsOf(s, items)
}

// labelsOf are the branches of these items.
func labelsOf(s *rules.Subject, items []int) []label {
	var all []label
	known := map[string]int{"": -1} // -1: no path
	for _, i := range items {
		text := s.Items[i].Branch
		at, met := known[text]
		if !met {
			at = -1
			if branch.Parse(text).Path != "" {
				at = len(all)
				all = append(all, label{text: text, segments: strings.Split(text, ".")})
			}
			known[text] = at
		}
		if at >= 0 {
			all[at].items = append(all[at].items, i)
		}
	}
	slices.SortFunc(all, func(a, b label) int { return slices.Compare(a.segments, b.segments) })
	return all
}

// last is the last segment: the agent that the branch is named after.
func (l *label) last() string { return l.segments[len(l.segments)-1] }

// hollow reports whether a segment is empty: a dot too many.
func (l *label) hollow() bool { return slices.Contains(l.segments, "") }

// counted reports whether the segment is "name@run": of a node of a workflow or
// a tool's run, which runtimes number, and no agent's name.
func counted(segment string) bool { return strings.Contains(segment, "@") }

// under is the label at an index, and behind it those below it, of a list that
// has each before those below it.
func under(all []label, i int) []label {
	end := i + 1
	for end < len(all) && strings.HasPrefix(all[end].text, all[i].text+".") {
		end++
	}
	return all[i:end]
}

// shown reports whether a reader shows the item to those who may see its branch.
func shown(s *rules.Subject, i int) bool {
	it := &s.Items[i]
	return it.OnWire() && !it.Flags.Has(session.Blank)
}

// speaks reports whether the item is one that an agent added to what is sent: a
// request of that agent came just before it.
func speaks(s *rules.Subject, i int) bool {
	it := &s.Items[i]
	return shown(s, i) && (it.Role == session.Assistant || it.Answers())
}
