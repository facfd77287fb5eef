package delegation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Referrers lists the items that refer to each session of the tree. References
// that lead back up are left out: they are SC706.
func Referrers(p *rules.Pass) map[string][]session.Place {
	if len(p.Subjects) < 2 {
		return nil
	}
	refs := map[string][]session.Place{}
	for _, s := range p.Subjects {
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.SubSession && it.Child != "" && !leadsUp(p, s.Session, it.Child) {
				refs[it.Child] = append(refs[it.Child], s.At(i))
			}
		}
	}
	return refs
}

// links is how the sessions of a tree hang together.
type links struct {
	byID  map[string]*session.Session
	above map[*session.Session]*session.Session
	loops []loop
	up    map[link]bool // of loops
}

func newLinks(tree *session.Tree) *links {
	l := &links{byID: map[string]*session.Session{}, above: map[*session.Session]*session.Session{}, up: map[link]bool{}}
	for _, s := range tree.Sessions {
		l.byID[s.ID] = s
		for _, child := range s.Children {
			l.above[child] = s
		}
	}
	return l
}

// linked is how the tree hangs together, made when a rule first asks.
func linked(p *rules.Pass) *links {
	return rules.Once(&p.Known, func() *links {
		all := newLinks(p.Tree)
		all.loops = findLoops(p, all)
		for _, l := range all.loops {
			all.up[link{l.from.Session, l.to}] = true
		}
		return all
	})
}

// leadsUp reports whether a reference of the session to id closes a loop: SC706.
func leadsUp(p *rules.Pass, s *session.Session, id string) bool {
	links := linked(p)
	return links.up[link{s, links.byID[id]}]
}

// inLoop reports whether following the recorded parents leads from the session
// back to it. Only trees with such a fault have loops.
func inLoop(p *rules.Pass, s *session.Session) bool {
	if !slices.ContainsFunc(p.Tree.Sessions, func(s *session.Session) bool {
		return slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.ParentCycle })
	}) {
		return false
	}
	at := s
	for range p.Tree.Sessions {
		if at = p.Tree.Session(at.Parent); at == nil || at == s {
			break
		}
	}
	return at == s
}
