// Package forest groups the sessions of a store into trees: the sets that
// parent links and sub-session references connect.
package forest

import (
	"cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// Head is what grouping needs to know of one session.
type Head struct {
	Session *session.Session // its items may still be missing
	Refs    []string         // the ids that its sub-session items and calls name, in item order
}

// HeadOf is the head of a session whose items are loaded.
func HeadOf(s *session.Session) Head {
	h := Head{Session: s}
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind == session.SubSession {
			h.Refs = append(h.Refs, it.Child)
		}
		for n := range it.Calls {
			if d := it.Calls[n].Delegation; d != nil && d.Child != "" {
				h.Refs = append(h.Refs, d.Child)
			}
		}
	}
	return h
}

// ByCreated orders the heads of a store that has no stored order of sessions:
// by creation time, then by id.
func ByCreated(a, b Head) int {
	return cmp.Or(a.Session.Created.Compare(b.Session.Created), cmp.Compare(a.Session.ID, b.Session.ID))
}

// Group makes trees of heads, which come in stored order. The result is as
// session.Tree promises, in linear time:
//
//   - A session belongs below its recorded parent if that exists, else below
//     the first session that refers to it, unless that lies below it already.
//   - A tree holds everything that recorded parents and references connect.
//     Its root is its first session that belongs below none; further ones are
//     further roots. Trees are ordered by their roots, siblings as stored.
//   - Recorded parents that form a loop are cut at the loop's first session,
//     which becomes a root and receives the fault session.ParentCycle: clearing
//     its parent link gives the tree that is returned. It is the tree's first
//     session only when no other session of the tree can be.
//
// Group fills Children and appends to Faults, so each session goes through it
// once. Ids that are not unique mean the first session that has them.
func Group(heads []Head) []*session.Tree {
	g := newGraph(heads)
	g.linkRecorded()
	g.cutLoops()
	g.linkReferred()
	return g.trees()
}

// MarkDangling flags the sub-session items of s whose child does not exist, for
// stores whose reader skips those.
func MarkDangling(s *session.Session, exists func(id string) bool) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind == session.SubSession && !exists(it.Child) {
			it.Flags |= session.Dangling | session.Skipped
		}
	}
}
