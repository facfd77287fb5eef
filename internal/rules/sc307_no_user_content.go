package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var noUserContent = Rule{
	ID: "SC307", Name: "no-user-content", Severity: Warning, Safety: None, Scope: PerTree, Profiled: true, Since: "0.1.0",
	Title: "a session without a message of a user",
	Run: func(p *Pass) {
		for j := range p.requests() {
			empty := !slices.ContainsFunc(j.Items, func(it session.Item) bool { return it.OnWire() })
			if !empty && (!j.AsIs || j.asks()) || keptElsewhere(j.Session) {
				continue // the user's next message makes it whole
			}
			f := p.findSession(j.Session)
			f.Profile = j.Profile
			f.Message = "no user has said anything in this session"
			if empty {
				f.Severity = Info // nobody sends an empty one
				f.Message = "the session is empty: it has no message that a model would see"
			}
			p.Report(f)
		}
	},
}

// asks reports whether a turn of the request is a user's.
func (j *Judged) asks() bool {
	for t := range j.spoken() {
		if t.role == session.User {
			return true
		}
	}
	return false
}
