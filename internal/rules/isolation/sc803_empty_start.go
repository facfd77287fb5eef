package isolation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var emptyStart = rules.Rule{
	ID: "SC803", Name: "empty-start", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Since: "0.1.0",
	Title: "a sub-session begins with steps that are older than its delegation",
	Run: func(p *rules.Pass) {
		copies := siblingCopies(p)
		for _, s := range isolatedSpawns(p) {
			if len(inheritedPairs(s)) > 0 {
				continue // SC801, SC804
			}
			items, why := firstSteps(&s, p.Store.ChildPrologue && !delegation.HasPrologue(s.To), copies[s.To])
			if len(items) == 0 {
				continue
			}
			f := findInChild(p, &s, items)
			f.Message = "the sub-session of call " + rules.CallName(s.Call()) + " " + why
			p.Report(f)
		}
	},
}

// firstSteps are the items that say that the child did not begin empty, and why. Of a
// child whose beginning was lost, or leaked, only older ones do. Copies of what a
// sibling did are SC810.
func firstSteps(s *delegation.Spawn, lost bool, copies []siblingCopy) (items []int, why string) {
	copied := func(i int) bool {
		_, is := slices.BinarySearchFunc(copies, i, func(c siblingCopy, i int) int { return cmp.Compare(c.item, i) })
		return is
	}
	if items = slices.DeleteFunc(olderSteps(s), copied); len(items) > 0 {
		return items, "has " + rules.CountedNoun(len(items), "item") + " older than the call"
	}
	if lost || len(s.Leaked) > 0 {
		return nil, ""
	}
	first := slices.IndexFunc(s.To.Items, func(it session.Item) bool {
		return it.Kind == session.Summary || it.OnWire() && it.Role != session.System && it.Role != session.User || it.IsAnswer()
	})
	if first < 0 || s.To.Items[first].Kind == session.Summary || copied(first) {
		return nil, ""
	}
	it := &s.To.Items[first]
	if it.IsAnswer() && isForeignResult(s.To, first) {
		return []int{first}, "begins with a result of a call that it did not make"
	}
	if n := stepNumber(it); n > 1 {
		return []int{first}, fmt.Sprintf("begins with step %d, as if it continued the steps of another agent", n)
	}
	return nil, ""
}

// olderSteps are the steps of the child from before the call: what agents said and tools answered. What the child is told may have been
// written earlier.
func olderSteps(s *delegation.Spawn) (list []int) {
	for i := range s.To.Items {
		it := &s.To.Items[i]
		step := it.OnWire() && (it.Role == session.Assistant || it.IsAnswer()) && !it.Flags.Has(session.Synthetic)
		if step && isOlder(s, it) {
			list = append(list, i)
		}
	}
	return list
}

// step is the form of the ids that Loom gives the steps of an agent, from 001 on.
var step = pattern.Lazy(`^step_(\d+)$`)

// stepNumber is the number of the item's first call, 0 for ids of another form.
func stepNumber(it *session.Item) int {
	if len(it.Calls) == 0 {
		return 0
	}
	if found := step().FindStringSubmatch(it.Calls[0].ID); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil { // else it is larger than any
			return n
		}
	}
	return 0
}
