package repair

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// introduced is a finding that matters about a record that no finding named
// before, nil for none. What only the requests to some provider have otherwise is
// said, and is no reason against a repair: the session does not resume without it.
func introduced(tree *session.Tree, before, after []*check.Finding) *check.Finding {
	known := map[string]bool{}
	for _, f := range before {
		known[f.Fingerprint], known[f.Row] = true, true
		s := tree.Session(f.Session)
		for _, item := range f.Items {
			if s != nil && item < len(s.Items) {
				known[s.ItemRef(item).Row()] = true
			}
		}
	}
	for _, f := range after {
		ofRequest := f.Rule.Profiled && f.Rule.Safety == rules.None // what is stored is right, and one provider minds it
		if f.Severity > rules.Info && !ofRequest && !known[f.Fingerprint] && !known[f.Row] {
			return f
		}
	}
	return nil
}

// firstChanged lists the first change of every stored session that has one.
func firstChanged(before, after *session.Tree) []FirstChange {
	now := map[string]*session.Session{}
	for _, s := range after.Sessions {
		now[s.ID] = s
	}
	var list []FirstChange
	for _, s := range before.Sessions {
		if t := now[s.ID]; t != nil {
			if i := firstDifference(s, t); i >= 0 {
				list = append(list, FirstChange{Session: s.ID, Item: i, Signed: firstSigned(s, t, i)})
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

// firstSigned is the index of the first item of s from one on that a request
// holds, with signed reasoning, and that t has, too.
func firstSigned(s, t *session.Session, from int) *int {
	stays := map[string]bool{}
	for i := range t.Items {
		stays[t.ItemRef(i).Row()] = true
	}
	for i := from; i < len(s.Items); i++ {
		if it := &s.Items[i]; it.OnWire() && stays[s.ItemRef(i).Row()] && signed(it) {
			return &i
		}
	}
	return nil
}

func signed(it *session.Item) bool {
	for i := range it.Blocks {
		if b := &it.Blocks[i]; b.Kind == session.ReasoningBlock && b.Signature != 0 {
			return true
		}
	}
	return false
}
