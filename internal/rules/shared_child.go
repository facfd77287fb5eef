package rules

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// share is a session that several calls of one conversation have as their child.
type share struct {
	child  *Subject
	root   *session.Session // the conversation
	spawns []spawn          // two or more, in the order of the sessions and items
}

// shares are the sessions that several calls share, once for each conversation
// that has more than one of the calls.
func (p *Pass) shares() []share {
	type key struct {
		child *Subject
		root  *session.Session
	}
	var list []share
	at := map[key]int{}
	for _, sp := range p.callers() {
		k := key{sp.child, p.conversation(sp.parent.Session)}
		n, known := at[k]
		if !known {
			n, list = len(list), append(list, share{child: k.child, root: k.root})
			at[k] = n
		}
		list[n].spawns = append(list[n].spawns, sp)
	}
	return slices.DeleteFunc(list, func(s share) bool { return len(s.spawns) < 2 })
}

// callers are the calls whose child some other call may have as well: those that
// name it, and those of a batch behind which several items refer to one session.
func (p *Pass) callers() []spawn {
	if len(p.Subjects) < 2 {
		return nil
	}
	var list []spawn
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			child := d.Child
			if child == nil {
				child = p.sharedByBatch(s, d)
			}
			if child != nil {
				list = append(list, spawn{d, s, p.subject(child)})
			}
		}
	}
	return list
}

// sharedByBatch is the session that at least two items behind the batch of a call
// refer to, nil when there is none: then it is the child of every call of the batch
// that asks its agent and has no child of its own.
func (p *Pass) sharedByBatch(s *Subject, d *replay.Delegation) *session.Session {
	seen := map[string]bool{}
	for i := d.Item + 1; i < s.endOfBatch(d.Item); i++ {
		it := &s.Items[i]
		if it.Kind != session.SubSession || it.Child == "" || p.leadsUp(s.Session, it.Child) {
			continue
		}
		if child := p.Tree.Session(it.Child); seen[it.Child] && child != nil && asksFor(d, child) {
			return child
		}
		seen[it.Child] = true
	}
	return nil
}

// asksFor reports whether a call may have started a session, by the agent that it asks.
func asksFor(d *replay.Delegation, child *session.Session) bool {
	asked, spoke := d.Call().Delegation.Agent, replay.FirstAgent(child)
	return asked == "" || spoke == "" || asked == spoke
}

// endOfBatch is the index behind the last item that can belong to the calls of an
// item: that of the next message of the session's own which brings no results.
func (s *Subject) endOfBatch(item int) int {
	for i := item + 1; i < len(s.Items); i++ {
		if it := &s.Items[i]; it.OnWire() && !it.Answers() && s.Replay.Steps[i].Action == replay.Persist {
			return i
		}
	}
	return len(s.Items)
}

// conversation is the session at the top of the one given.
func (p *Pass) conversation(s *session.Session) *session.Session {
	links := p.linked()
	for links.above[s] != nil {
		s = links.above[s]
	}
	return s
}

// batched reports whether two of the calls were made in one turn: then they ran at
// the same time.
func (s *share) batched() bool {
	for i, sp := range s.spawns[1:] {
		if before := s.spawns[i]; sp.parent == before.parent && sp.Item == before.Item {
			return true
		}
	}
	return false
}

// agent is who was asked.
func (s *share) agent() string {
	return cmp.Or(s.spawns[0].Call().Delegation.Agent, s.child.Agent, replay.FirstAgent(s.child.Session))
}

// toldBySharing reports whether SC707 tells that these items refer to one session:
// all stand in one session, and calls of it share that one.
func (p *Pass) toldBySharing(id string, places []Place) bool {
	return slices.ContainsFunc(p.shares(), func(s share) bool {
		return s.child.ID == id && !slices.ContainsFunc(places, func(at Place) bool {
			return !slices.ContainsFunc(s.spawns, func(sp spawn) bool { return sp.parent.ID == at.Session })
		})
	})
}
