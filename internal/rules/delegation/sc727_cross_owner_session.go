package delegation

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var crossOwnerSession = rules.Rule{
	ID: "SC727", Name: "cross-owner-session", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "one session belongs to several users or conversations",
	Run: func(p *rules.Pass) {
		shared := sharedOut(p)
		told := map[*session.Session]bool{}
		rules.ReportFaults(session.SharedID, func(p *rules.Pass, f *rules.Finding, _ *session.Fault) {
			if o := shared[f.Session]; o != nil && !told[f.Session] {
				f.AddSentence(o.ownersText())
				o.addConsequences(p, f)
			}
			told[f.Session] = true
		})(p)
		for _, s := range p.Subjects {
			if o := shared[s.Session]; o != nil && !told[s.Session] {
				f := p.FindSession(s.Session)
				f.Message = o.ownersText()
				o.addConsequences(p, &f)
				p.Report(f)
			}
		}
	},
}

// owners are the conversations whose calls have one session as their child.
type owners struct {
	count  int             // of the conversations
	places []session.Place // of the calls
}

// sharedOut are the sessions that several conversations have.
func sharedOut(p *rules.Pass) map[*session.Session]*owners {
	of := map[*session.Session]*owners{}
	for _, calls := range lists.GroupBy(sharingCalls(p), func(sp Spawn) *session.Session { return sp.To.Session }) {
		roots := lists.GroupBy(calls, func(sp Spawn) *session.Session { return conversationRoot(p, sp.From.Session) })
		if len(roots) > 1 {
			places := lists.MapEach(calls, func(sp Spawn) session.Place { return sp.From.ItemPlace(sp.Item) })
			of[calls[0].To.Session] = &owners{len(roots), slices.Compact(places)}
		}
	}
	return of
}

func (o *owners) ownersText() string {
	return fmt.Sprintf("%d conversations share this session as their sub-session", o.count)
}

// addConsequences adds to a finding what follows from it.
func (o *owners) addConsequences(p *rules.Pass, f *rules.Finding) {
	f.Related, f.Count = o.places, o.count
	f.AddSentence("What one of them was told, the others could see")
	f.AddSentence(p.Store.SharedChildren)
}
