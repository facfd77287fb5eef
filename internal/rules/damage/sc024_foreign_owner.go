package damage

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var foreignOwner = rules.Rule{
	ID: "SC024", Name: "foreign-owner", Severity: rules.Warning, Safety: rules.Lossless, Allow: "guesses", Scope: rules.PerTree, Since: "0.1.0",
	Title: "messages that say that they belong to nobody, or to another user than their session, and are not sent",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		foreign := slices.DeleteFunc(slices.Clone(s.Faults), func(f session.Fault) bool { return f.Kind != session.ForeignOwner })
		for _, faults := range lists.GroupBy(foreign, func(f session.Fault) string { return f.Detail }) {
			reportForeign(p, s, faults[0].Detail, faults)
		}
	}),
}

// reportForeign reports the messages of one owner. Whose a message without one is, its session
// tells; another one's may be a person's who has nothing to do with this session.
func reportForeign(p *rules.Pass, s *rules.Subject, owner string, faults []session.Fault) {
	f := p.FindItems(s.Session, lists.MapEach(faults, func(at session.Fault) int { return at.Item }))
	f.Ref, f.Field = faults[0].Ref, faults[0].Field
	edits := lists.MapEach(faults, func(at session.Fault) session.Edit {
		return session.Edit{Op: session.Set, Ref: at.Ref, Field: at.Field, Value: at.Default}
	})
	fix := rules.NewFix(rules.Lossless, "write whose session it is into "+f.Field, edits...)
	n := len(faults)
	what := rules.CountedNoun(n, "message")
	unsent := ", so that " + cmp.Or(p.Store.Title, "its runtime") + rules.VerbForm(n, " does not send it", " sends none of them")
	f.Message = what + rules.VerbForm(n, " has", " have") + " no " + f.Field + unsent
	if owner != "" {
		named := rules.QuoteText(*faults[0].Default)
		f.Discreet = what + rules.VerbForm(n, " has", " have") + " another " + f.Field + " than the session" + unsent
		f.Message = what + rules.VerbForm(n, " belongs", " belong") + " to " + rules.QuoteText(owner) + " and the session to " + named + unsent
		fix.Title, fix.Allow = "give "+rules.QuoteText(owner)+"'s "+rules.VerbForm(n, "message", "messages")+" to "+named, []string{"guesses"}
	}
	if rules.IsSpeechless(s.Session) {
		f.Severity = rules.Error
		f.AddSentence("Nothing of the session is sent: the model begins without a history")
	}
	f.Fixes = []rules.Fix{fix}
	p.Report(f)
}
