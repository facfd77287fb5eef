package damage

import (
	"cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var foreignOwner = rules.Rule{
	ID: "SC024", Name: "foreign-owner", Severity: rules.Warning, Safety: rules.Lossless, Allow: "guesses", Scope: rules.PerTree, Since: "0.1.0",
	Title: "messages that say that they belong to nobody, or to another user than their session, and are not sent",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		var owners []string // in the order in which they come
		of := map[string][]*session.Fault{}
		for i := range s.Faults {
			if f := &s.Faults[i]; f.Kind == session.ForeignOwner {
				if of[f.Detail] == nil {
					owners = append(owners, f.Detail)
				}
				of[f.Detail] = append(of[f.Detail], f)
			}
		}
		for _, owner := range owners {
			reportForeign(p, s, owner, of[owner])
		}
	}),
}

// reportForeign reports the messages of one owner. Whose a message without one is, its session
// tells; another one's may be a person's who has nothing to do with this session.
func reportForeign(p *rules.Pass, s *rules.Subject, owner string, faults []*session.Fault) {
	f := p.FindItem(s.Session, faults[0].Item)
	f.Ref, f.Field = faults[0].Ref, faults[0].Field
	f.Items = nil
	fix := rules.Fix{Title: "write whose session it is into " + f.Field, Safety: rules.Lossless}
	for _, at := range faults {
		f.Items = append(f.Items, at.Item)
		fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: at.Ref, Field: at.Field, Value: at.Default})
	}
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
	if !sends(s.Session) {
		f.Severity = rules.Error
		f.AddSentence("Nothing of the session is sent: the model begins without a history")
	}
	f.Fixes = []rules.Fix{fix}
	p.Report(f)
}

// sends reports whether anything of a session reaches a model.
func sends(s *session.Session) bool {
	for i := range s.Items {
		if s.Items[i].OnWire() {
			return true
		}
	}
	return false
}
