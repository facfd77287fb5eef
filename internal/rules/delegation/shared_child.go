package delegation

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// share is a session that several calls of one conversation have as their child.
type share struct {
	child  *rules.Subject
	root   *session.Session // the conversation
	spawns []Spawn          // two or more, in the order of the sessions and items
}

// sharing is who shares what in a tree.
type sharing struct {
	callers []Spawn // the calls whose child some other call may have as well
	calls   map[*rules.Subject]int
	shares  []share
	of      map[string][]int // the shares of a child, by its id
}

// shared is who shares what, made when a rule first asks.
func shared(p *rules.Pass) *sharing {
	return rules.Once(&p.Known, func() *sharing { return findSharing(p) })
}

// shares are the sessions that several calls share, once for each conversation
// that has more than one of the calls.
func shares(p *rules.Pass) []share { return shared(p).shares }

// callers are the calls whose child some other call may have as well: those that
// name it, and those of a batch behind which several items refer to one session.
func callers(p *rules.Pass) []Spawn { return shared(p).callers }

func findSharing(p *rules.Pass) *sharing {
	sh := &sharing{callers: findCallers(p), calls: map[*rules.Subject]int{}, of: map[string][]int{}}
	type key struct {
		child *rules.Subject
		root  *session.Session
	}
	var list []share
	at := map[key]int{}
	for _, sp := range sh.callers {
		sh.calls[sp.To]++
		k := key{sp.To, conversation(p, sp.From.Session)}
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

func findCallers(p *rules.Pass) []Spawn {
	if len(p.Subjects) < 2 {
		return nil
	}
	var list []Spawn
	for _, s := range p.Subjects {
		batch, referred := -1, []*session.Session(nil)
		for _, d := range s.Replay.Delegations {
			child := d.Child
			if child == nil {
				if d.Item != batch {
					batch, referred = d.Item, sharedByBatch(p, s, d.Item)
				}
				if i := slices.IndexFunc(referred, func(c *session.Session) bool { return asksFor(d, c) }); i >= 0 {
					child = referred[i]
				}
			}
			if child != nil && !leadsUp(p, s.Session, child.ID) {
				list = append(list, Spawn{d, s, p.Subject(child)})
			}
		}
	}
	return list
}

// sharedByBatch are the sessions that at least two items behind a batch of calls refer
// to: each is the child of every call of the batch that asks its agent and has no child
// of its own.
func sharedByBatch(p *rules.Pass, s *rules.Subject, item int) []*session.Session {
	var list []*session.Session
	seen := map[string]int{}
	for i, end := item+1, endOfBatch(s, item); i < end; i++ {
		it := &s.Items[i]
		if it.Kind != session.SubSession || it.Child == "" || leadsUp(p, s.Session, it.Child) {
			continue
		}
		seen[it.Child]++
		if child := linked(p).byID[it.Child]; child != nil && seen[it.Child] == 2 {
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
func endOfBatch(s *rules.Subject, item int) int {
	for i := item + 1; i < len(s.Items); i++ {
		if it := &s.Items[i]; it.OnWire() && !it.Answers() && s.Replay.Steps[i].Action == replay.Persist {
			return i
		}
	}
	return len(s.Items)
}

// conversation is the session at the top of the one given.
func conversation(p *rules.Pass, s *session.Session) *session.Session {
	links := linked(p)
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
func toldBySharing(p *rules.Pass, id string, places []session.Place) bool {
	return slices.ContainsFunc(shared(p).of[id], func(n int) bool {
		return !slices.ContainsFunc(places, func(at session.Place) bool {
			return !slices.ContainsFunc(shares(p)[n].spawns, func(sp Spawn) bool { return sp.From.ID == at.Session })
		})
	})
}
