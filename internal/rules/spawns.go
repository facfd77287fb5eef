package rules

import "github.com/sessctl/sessctl/internal/replay"

// spawn is a delegation with the child that it started.
type spawn struct {
	*replay.Delegation
	parent, child *Subject
}

// spawns are the delegations of the tree whose child is stored, in the order of the
// sessions and items. A child that several of them share comes with each: SC707 is
// about those. A call that leads back up starts no child: SC706.
func (p *Pass) spawns() []spawn {
	var list []spawn
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			if d.Child != nil && !p.leadsUp(s.Session, d.Child.ID) {
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
