package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
)

var crossOwnerSession = Rule{
	ID: "SC727", Name: "cross-owner-session", Severity: Error, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "one session belongs to several users or conversations",
	Run: func(p *Pass) {
		faults(session.SharedID, detail)(p)
		reportShared(p)
	},
}

// reportShared tells of sessions that calls of several conversations have as their
// child.
func reportShared(p *Pass) {
	type owners struct {
		roots  map[*session.Session]bool
		places []Place
	}
	of := map[*Subject]*owners{}
	for _, sp := range p.callers() {
		o := of[sp.child]
		if o == nil {
			o = &owners{roots: map[*session.Session]bool{}}
			of[sp.child] = o
		}
		o.roots[p.conversation(sp.parent.Session)] = true
		if at := (Place{Session: sp.parent.ID, Item: sp.Item}); len(o.places) == 0 || o.places[len(o.places)-1] != at {
			o.places = append(o.places, at)
		}
	}
	for _, s := range p.Subjects {
		o := of[s]
		if o == nil || len(o.roots) < 2 {
			continue
		}
		f := p.findSession(s.Session)
		f.Related = o.places
		f.Message = fmt.Sprintf("calls of %s have this session as their sub-session: what one of them was told, the others could see",
			count(len(o.roots), "conversation"))
		if p.Store.SharedChildren != "" {
			f.Message += "; " + p.Store.SharedChildren
		}
		p.Report(f)
	}
}
