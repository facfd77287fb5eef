package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

var emptyStart = Rule{
	ID: "SC803", Name: "empty-start", Severity: Warning, Safety: None, Scope: PerTree, Optional: true, Since: "0.1.0",
	Title: "a sub-session begins with steps that are older than its delegation",
	Run: func(p *Pass) {
		copies := p.siblingCopies()
		for _, s := range p.isolated() {
			if len(p.inherited(s)) > 0 {
				continue // SC801, SC804
			}
			items, why := s.firstSteps(p.Store.ChildPrologue && !s.child.begins(), copies[s.child])
			if len(items) == 0 {
				continue
			}
			f := p.find(s.child.Session, items[0])
			f.Items, f.Call = items, s.Call().ID
			f.Related = []session.Place{s.parent.At(s.Item)}
			f.Message = "the sub-session of call " + callName(s.Call()) + " " + why
			p.Report(f)
		}
	},
}

// firstSteps are the items that say that the child did not begin empty, and why. Of a
// child whose beginning was lost, or leaked, only older ones do. Copies of what a
// sibling did are SC810.
func (s *spawn) firstSteps(lost bool, copies []siblingCopy) (items []int, why string) {
	copied := func(i int) bool {
		_, is := slices.BinarySearchFunc(copies, i, func(c siblingCopy, i int) int { return cmp.Compare(c.item, i) })
		return is
	}
	if items = slices.DeleteFunc(s.older(), copied); len(items) > 0 {
		return items, "has " + count(len(items), "item") + " older than the call"
	}
	if lost || len(s.Leaked) > 0 {
		return nil, ""
	}
	first := slices.IndexFunc(s.child.Items, func(it session.Item) bool {
		return it.Kind == session.Summary || it.OnWire() && it.Role != session.System && it.Role != session.User || it.Answers()
	})
	if first < 0 || s.child.Items[first].Kind == session.Summary || copied(first) {
		return nil, ""
	}
	it := &s.child.Items[first]
	if it.Answers() && s.child.isForeignResult(first) {
		return []int{first}, "begins with a result of a call that it did not make"
	}
	if n := stepNumber(it); n > 1 {
		return []int{first}, fmt.Sprintf("begins with step %d, as if it went on with the steps of another agent", n)
	}
	return nil, ""
}

// older are the steps of the child from before the call, by more than times can be
// wrong: what agents said and tools answered. What the child is told may have been
// written earlier.
func (s *spawn) older() []int {
	called := s.parent.Items[s.Item].Time
	if called.IsZero() {
		return nil
	}
	var list []int
	for i := range s.child.Items {
		it := &s.child.Items[i]
		step := it.OnWire() && (it.Role == session.Assistant || it.Answers()) && !it.Flags.Has(session.Synthetic)
		if step && !it.Time.IsZero() && it.Time.Before(called.Add(-timeResolution)) {
			list = append(list, i)
		}
	}
	return list
}

// step is the form of the ids that Loom gives the steps of an agent, from 001 on.
var step = regexp.MustCompile(`^step_(\d+)$`)

// stepNumber is the number of the item's first call, 0 for ids of another form.
func stepNumber(it *session.Item) int {
	if len(it.Calls) == 0 {
		return 0
	}
	found := step.FindStringSubmatch(it.Calls[0].ID)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return n
}
