package repair

import (
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// introduced is a finding that matters about a record that no finding named
// before, nil for none. What only the requests to some provider have otherwise, or
// what is a warning that no repair takes back, is said, and is no reason against a
// repair: the session does not resume without it.
func introduced(tree *session.Tree, before, after []*check.Finding) *check.Finding {
	known, was := map[string]bool{}, map[check.Identity]bool{}
	for _, f := range before {
		known[f.Row], was[f.Identity()] = true, true
		s := tree.Session(f.Session)
		for _, item := range f.Items {
			if s != nil && item < len(s.Items) {
				known[s.ItemRef(item).Row()] = true
			}
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
				c := FirstChange{Place: s.At(i)}
				if n := firstSigned(s, t, i); n >= 0 {
					c.sign(stored.place(t.ItemRef(n)))
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

// sign notes where the first signed thinking behind the change is stored.
func (c *FirstChange) sign(at session.Place) {
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
