package rules

import (
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// spawn is a delegation with the child that it started.
type spawn struct {
	*replay.Delegation
	parent, child *Subject
}

// result is what came back, nil as long as nothing did.
func (s *spawn) result() *session.Result {
	if s.Result < 0 {
		return nil
	}
	it := &s.parent.Items[s.Result]
	for n := range it.Results {
		if it.Results[n].CallID == s.Call().ID {
			return &it.Results[n]
		}
	}
	return nil
}

// spawns are the delegations of the tree whose child is stored, in the order of the
// sessions and items. A child that several of them share comes with each: SC707 is
// about those.
func (p *Pass) spawns() []spawn {
	var list []spawn
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			if d.Child != nil {
				list = append(list, spawn{d, s, p.subject(d.Child)})
			}
		}
	}
	return list
}

// ownSpawns are those whose child no other delegation has.
func (p *Pass) ownSpawns() []spawn {
	all, count := p.spawns(), map[*Subject]int{}
	for _, s := range all {
		count[s.child]++
	}
	var list []spawn
	for _, s := range all {
		if count[s.child] == 1 {
			list = append(list, s)
		}
	}
	return list
}
