package rules

import (
	"fmt"
	"maps"

	"github.com/sessctl/sessctl/internal/session"
)

var crossOwnerSession = Rule{
	ID: "SC727", Name: "cross-owner-session", Severity: Error, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "one session belongs to several users or conversations",
	Run: func(p *Pass) {
		shared := p.sharedOut()
		told := map[*session.Session]bool{}
		faults(session.SharedID, func(f *Finding, fault *session.Fault) {
			f.Message = fault.Detail
			if o := shared[f.Session]; o != nil && !told[f.Session] {
				f.Related, f.Count, f.Message = o.places, len(o.roots), f.Message+"; "+o.tell(p)
			}
			told[f.Session] = true
		})(p)
		for _, s := range p.Subjects {
			if o := shared[s.Session]; o != nil && !told[s.Session] {
				f := p.findSession(s.Session)
				f.Related, f.Count, f.Message = o.places, len(o.roots), o.tell(p)
				p.Report(f)
			}
		}
	},
}

// owners are the conversations whose calls have one session as their child.
type owners struct {
	roots  map[*session.Session]bool
	places []session.Place // of the calls
}

// sharedOut are the sessions that several conversations have.
func (p *Pass) sharedOut() map[*session.Session]*owners {
	of := map[*session.Session]*owners{}
	for _, sp := range p.callers() {
		o := of[sp.child.Session]
		if o == nil {
			o = &owners{roots: map[*session.Session]bool{}}
			of[sp.child.Session] = o
		}
		o.roots[p.conversation(sp.parent.Session)] = true
		if at := sp.parent.At(sp.Item); len(o.places) == 0 || o.places[len(o.places)-1] != at {
			o.places = append(o.places, at)
		}
	}
	maps.DeleteFunc(of, func(_ *session.Session, o *owners) bool { return len(o.roots) < 2 })
	return of
}

func (o *owners) tell(p *Pass) string {
	text := fmt.Sprintf("calls of %s have this session as their sub-session: what one of them was told, the others could see",
		count(len(o.roots), "conversation"))
	if p.Store.SharedChildren != "" {
		text += "; " + p.Store.SharedChildren
	}
	return text
}
