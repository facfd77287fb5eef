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

// sharing is who shares what in a tree.
type sharing struct {
	callers []spawn // the calls whose child some other call may have as well
	calls   map[*Subject]int
	shares  []share
	of      map[string][]int // the shares of a child, by its id
}

// shared is who shares what, made when a rule first asks.
func (p *Pass) shared() *sharing {
	return once(&p.known, func() *sharing { return p.findSharing() })
}

// shares are the sessions that several calls share, once for each conversation
// that has more than one of the calls.
func (p *Pass) shares() []share { return p.shared().shares }

// callers are the calls whose child some other call may have as well: those that
// name it, and those of a batch behind which several items refer to one session.
func (p *Pass) callers() []spawn { return p.shared().callers }

func (p *Pass) findSharing() *sharing {
	sh := &sharing{callers: p.findCallers(), calls: map[*Subject]int{}, of: map[string][]int{}}
	type key struct {
		child *Subject
		root  *session.Session
	}
	var list []share
	at := map[key]int{}
	for _, sp := range sh.callers {
		sh.calls[sp.child]++
		k := key{sp.child, p.conversation(sp.parent.Session)}
		n, known := at[k]
		if !known {
			n, list = len(list), append(list, share{child: k.child, root: k.root})
			at[k] = n
		}
		list[n].spawns = append(list[n].spawns, sp)
	}
	sh.shares = slices.DeleteFunc(list, func(s share) bool { return len(s.spawns) < 2 })
	for i, s := range sh.shares {
		sh.of[s.child.ID] = append(sh.of[s.child.ID], i)
	}
	return sh
}

func (p *Pass) findCallers() []spawn {
	if len(p.Subjects) < 2 {
		return nil
	}
	var list []spawn
	for _, s := range p.Subjects {
		batch, referred := -1, []*session.Session(nil)
		for _, d := range s.Replay.Delegations {
			child := d.Child
			if child == nil {
				if d.Item != batch {
					batch, referred = d.Item, p.sharedByBatch(s, d.Item)
				}
				if i := slices.IndexFunc(referred, func(c *session.Session) bool { return asksFor(d, c) }); i >= 0 {
					child = referred[i]
				}
			}
			if child != nil && !p.leadsUp(s.Session, child.ID) {
				list = append(list, spawn{d, s, p.subject(child)})
			}
		}
	}
	return list
}

// sharedByBatch are the sessions that at least two items behind a batch of calls refer
// to: each is the child of every call of the batch that asks its agent and has no child
// of its own.
func (p *Pass) sharedByBatch(s *Subject, item int) []*session.Session {
	var list []*session.Session
	seen := map[string]int{}
	for i, end := item+1, s.endOfBatch(item); i < end; i++ {
		it := &s.Items[i]
		if it.Kind != session.SubSession || it.Child == "" || p.leadsUp(s.Session, it.Child) {
			continue
		}
		seen[it.Child]++
		if child := p.linked().byID[it.Child]; child != nil && seen[it.Child] == 2 {
			list = append(list, child)
		}
	}
	return list
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

// agent is who was asked.
func (s *share) agent() string {
	return cmp.Or(s.spawns[0].Call().Delegation.Agent, s.child.Agent, replay.FirstAgent(s.child.Session))
}

// toldBySharing reports whether SC707 tells that these items refer to one session:
// all stand in one session, and calls of it share that one.
func (p *Pass) toldBySharing(id string, places []session.Place) bool {
	return slices.ContainsFunc(p.shared().of[id], func(n int) bool {
		return !slices.ContainsFunc(places, func(at session.Place) bool {
			return !slices.ContainsFunc(p.shares()[n].spawns, func(sp spawn) bool { return sp.parent.ID == at.Session })
		})
	})
}
