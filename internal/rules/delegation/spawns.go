package delegation

import (
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

// Spawn is a delegation with the child that it started.
type Spawn struct {
	*replay.Delegation
	From, To *rules.Subject
}

// Spawns are the delegations of the tree whose child is stored, in the order of the
// sessions and items. A child that several of them share comes with each: SC707 is
// about those. A call that leads back up starts no child: SC706.
func Spawns(p *rules.Pass) []Spawn {
	var list []Spawn
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			if d.Child != nil && !leadsUp(p, s.Session, d.Child.ID) {
				list = append(list, Spawn{d, s, p.Subject(d.Child)})
			}
		}
	}
	return list
}

// OwnSpawns are those whose child no other delegation has.
func OwnSpawns(p *rules.Pass) []Spawn {
	all, count := Spawns(p), map[*rules.Subject]int{}
	for _, s := range all {
		count[s.To]++
	}
	var list []Spawn
	for _, s := range all {
		if count[s.To] == 1 {
			list = append(list, s)
		}
	}
	return list
}
