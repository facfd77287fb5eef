package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var noUserContent = rules.Rule{
	ID: "SC307", Name: "no-user-content", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Since: "0.1.0",
	Title: "a session without a user message",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		empty := !slices.ContainsFunc(j.Items, func(it session.Item) bool { return it.OnWire() })
		if !empty && (!j.AsIs || hasUserTurn(&j)) || rules.IsKeptElsewhere(j.Session) {
			return // the user's next message makes it whole
		}
		if rules.HidesMessages(j.Session) {
			return
		}
		f := p.FindSession(j.Session)
		f.Profile = j.Profile
		f.Message = "this session has no user message"
		if empty {
			f.Severity = rules.Info // nobody sends an empty one
			f.Message = "this session has no message that is sent to a model"
		}
		p.Report(f)
	}),
}

// hasUserTurn reports whether a turn of the request is a user's.
func hasUserTurn(j *rules.Judged) bool {
	for t := range j.SpokenTurns() {
		if t.Role == session.User {
			return true
		}
	}
	return false
}
