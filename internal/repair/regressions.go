package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// introducedFinding is a finding that matters about a record that no finding named
// before, nil for none. What only the requests to some provider have otherwise, or
// what is a warning that no repair takes back, is said, and is no reason against a
// repair: the session does not resume without it.
func introducedFinding(tree *session.Tree, before, after []*check.Finding) *check.Finding {
	known, was := map[string]bool{}, map[check.Identity]bool{}
	for _, f := range before {
		known[f.Row], was[f.Identity()] = true, true
		s := tree.Session(f.Session)
		for _, item := range f.Items {
			if s != nil && item < len(s.Items) {
				known[s.ItemRef(item).Row()] = true
			}
		}
		for i := 0; s != nil && f.Hides && i < len(s.Items); i++ { // of what is not sent nothing was found
			known[s.ItemRef(i).Row()] = true
		}
	}
	for _, f := range after {
		saidOnly := f.Rule.Safety == rules.None && (f.Rule.Profiled || f.Severity < rules.Error)
		if f.Severity > rules.Info && !saidOnly && !was[f.Identity()] && !known[recordRow(f.Row)] {
			return f
		}
	}
	return nil
}

// firstChanged lists the first change of every stored session that has one.
func firstChanged(before, after *session.Tree) []FirstChange {
	stored := newOrigin(before)
	now := map[string]*session.Session{}
	for _, s := range after.Sessions {
		now[s.ID] = s
	}
	var list []FirstChange
	for _, s := range before.Sessions {
		if t := now[s.ID]; t != nil {
			if i := firstDifference(s, t); i >= 0 {
				c := FirstChange{Place: s.ItemPlace(i)}
				if n := firstSigned(s, t, i); n >= 0 {
					c.noteSigned(stored.placeOf(t.ItemRef(n)))
				}
				list = append(list, c)
			}
		}
	}
	return list
}

// firstDifference is the index of the first item that is no longer the one that
// stood there, or says something else; -1 for none.
func firstDifference(s, t *session.Session) int {
	for i := range max(len(s.Items), len(t.Items)) {
		if i >= len(s.Items) || i >= len(t.Items) || s.ItemRef(i) != t.ItemRef(i) ||
			s.Items[i].Meaning != t.Items[i].Meaning || len(s.Items[i].Results) != len(t.Items[i].Results) {
			return i
		}
	}
	return -1
}

// onlyAppends reports whether fixes only add items behind the last ones of their sessions.
func onlyAppends(before, after *session.Tree, fixes []Fix) bool {
	for i := range fixes {
		if slices.ContainsFunc(fixes[i].Edits, func(e session.Edit) bool { return e.Op != session.Insert }) {
			return false
		}
	}
	for _, s := range before.Sessions {
		t := after.Session(s.ID)
		if t == nil {
			return false
		}
		if i := firstDifference(s, t); i >= 0 && i < len(s.Items) {
			return false
		}
		for i := range s.Items { // to make room before the end moves what stands there
			if s.Items[i].Position != t.Items[i].Position {
				return false
			}
		}
	}
	return true
}

// noteSigned notes where the first signed thinking behind the change is stored.
func (c *FirstChange) noteSigned(at session.Place) {
	if c.Signed = &at.Item; at.Session != c.Session {
		c.SignedIn = at.Session
	}
}

// firstSigned is the index of the first item of t from one on that a request
// holds, with signed reasoning behind the first difference between s and t; -1
// for none.
func firstSigned(s, t *session.Session, from int) int {
	for i := from; i < len(t.Items); i++ {
		it := &t.Items[i]
		if !it.OnWire() {
			continue
		}
		parts := it.Blocks
		if i == from && i < len(s.Items) && s.ItemRef(i) == t.ItemRef(i) {
			parts = partsFromChange(&s.Items[i], it)
		}
		if slices.ContainsFunc(parts, func(b session.Block) bool { return b.SignedThinking() }) {
			return i
		}
	}
	return -1
}

// partsFromChange are the parts of an item from the first one on that an edit
// changed: what an item begins with stays bound to what precedes it.
func partsFromChange(was, is *session.Item) []session.Block {
	for n := range was.Blocks {
		if n >= len(is.Blocks) || !samePart(was, is, n) {
			return was.Blocks[n:]
		}
	}
	return nil
}

// samePart reports whether part n of an item says what it said.
func samePart(was, is *session.Item, n int) bool {
	b := was.Blocks[n]
	if is.Blocks[n] != b {
		return false
	}
	switch b.Kind {
	case session.TextBlock:
		return was.Body.Text == is.Body.Text
	case session.ReasoningBlock:
		return was.Body.Reasoning == is.Body.Reasoning
	case session.CallBlock:
		return was.Calls[b.Nth] == is.Calls[b.Nth]
	case session.ResultBlock:
		return was.Results[b.Nth] == is.Results[b.Nth]
	}
	return true
}

// LeftOut is a tree of a plan that could not be carried out, and stayed as it was.
type LeftOut struct {
	Root string `json:"root"`          // id of the root session
	Why  string `json:"why"`           // why its repair failed
	Next string `json:"next,omitzero"` // what to do about it; left out when there is nothing to do
}

// applyInParts makes the changes of some trees in one transaction. When that fails because of
// a tree, it is rolled back and each half of them gets one of its own, so that in the end
// only those are left out that fail alone.
func (a *application) applyInParts(trees []*Tree) error {
	p, err := a.prepareTrees(trees)
	if err == nil {
		if err := a.backUpAndBegin(); err != nil {
			return err
		}
		err = a.commitBatch(p)
	}
	others := a.plan.Store.Identity != "" && errors.Is(err, store.ErrElsewhere) // on a server somebody always writes
	if !others && !aboutTrees(err) {
		return err
	}
	if len(trees) == 1 {
		a.leaveOut(trees[0], err)
		return nil
	}
	half := len(trees) / 2
	if err := a.applyInParts(trees[:half]); err != nil {
		return err
	}
	return a.applyInParts(trees[half:])
}

// errUnclean is in the error of a batch that could not be taken back as a whole, or
// whose trace in the receipt could not: nothing is tried again then.
var errUnclean = errors.New("a failed change could not be reversed")

// joinUnclean joins the error of a batch, and of what was done to take it back.
func joinUnclean(err, failed error) error {
	if failed == nil {
		return err
	}
	return errors.Join(err, errUnclean, failed)
}

// aboutTrees reports whether an error is about what was to become of some tree, so
// that others may do better: nobody else uses the store, and it can be written. An
// error without a class comes of what is stored, too, unless somebody ended the run.
func aboutTrees(err error) bool {
	if err == nil || errors.Is(err, errUnclean) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	class := problem.ClassOf(err)
	return class == problem.RolledBack || class == 0
}

// leaveOut notes a tree that cannot be repaired.
func (a *application) leaveOut(t *Tree, err error) {
	list := append(a.receipt.LeftOut, a.leftOut(t, err))
	a.receipt.LeftOut = list
	switch {
	case len(list) > 1:
		class := problem.RolledBack
		if errors.Is(err, store.ErrElsewhere) {
			class = problem.Busy
		}
		a.nothing = &problem.Error{
			Class: class, Err: err, Next: nothingChanged + list[0].Next,
			What: fmt.Sprintf("the repair of %s was rolled back: none of %d sessions could be repaired, for example %s: %s",
				a.plan.Store.Path, len(list), list[0].Root, list[0].Why),
		}
	case problem.ClassOf(err) != 0:
		a.nothing = err
	default:
		a.nothing = &problem.Error{
			Class: problem.RolledBack, Err: err, What: fmt.Sprintf("the repair of %s was rolled back: %v", a.plan.Store.Path, err),
			Next: nothingChanged + reportIt,
		}
	}
}

// leftOut says why a tree stays as it was.
func (a *application) leftOut(t *Tree, err error) LeftOut {
	out := LeftOut{Root: t.Root, Why: err.Error(), Next: reportIt}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		out.Why = storeReason(err)
		out.Next = strings.TrimPrefix(p.Next, nothingChanged)
	}
	if m, ok := errors.AsType[mismatch](err); ok {
		out.Why = "the result would not be what was planned: " + m.Error()
	}
	return out
}

// storeReason is what an error says of a store without that nothing was changed.
func storeReason(err error) string {
	text := err.Error()
	if p, ok := errors.AsType[*problem.Error](err); ok {
		text = p.What
	}
	if _, why, ok := strings.Cut(text, " was not changed: "); ok {
		return why
	}
	return text
}

// More records that do not decode than these, and a greater share of all items than one
// in so many, are not taken for damaged.
const (
	fewUnread   = 9
	unreadShare = 10
)

func manyUnread(n int, result *check.Result) bool {
	return n > fewUnread && n > result.Items/unreadShare
}

// unknownForm is why nothing in a tree with so many records of an unknown form is repaired.
func unknownForm(n int) string {
	return fmt.Sprintf("it holds records in a form that sessctl does not know (%d), so sessctl cannot tell what is missing beside them", n)
}

// countUnknown counts the records that are in a form which is not known and may not be taken
// out.
func (p *planner) countUnknown(found []*check.Finding) int {
	n := 0
	for _, f := range found {
		for i := range f.Fixes {
			fix := &f.Fixes[i]
			if !fix.Unread {
				continue
			}
			p.unread++
			if p.foreign && fix.Allow == nil {
				fix.Allow = []string{rules.UnknownForm}
			}
			if !p.isAllowed(*fix) {
				n++
			}
		}
	}
	return n
}
