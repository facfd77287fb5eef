package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var resultInWrongRole = rules.Rule{
	ID: "SC108", Name: "result-in-wrong-role", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Profiled: true, Since: "0.1.0",
	Title: "a result inside a message of the assistant, or a call inside one of the user",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		for n, pair := range s.Pairs.Pairs {
			if pair.Place == pairing.Inside && !isShadowed(s, n) && !isSplit(s, pair) {
				reportInside(p, s, pair)
			}
		}
		reportUserCalls(p, s)
	}),
}

// reportInside reports a result that stands within an assistant's message. Where
// the provider does not look for it, its call is one without a result.
func reportInside(p *rules.Pass, s *rules.Subject, pair pairing.Pair) {
	f := p.FindCall(s, pair.Result, s.CallAt(pair.Call).ID)
	f.Message = "the result of call " + rules.CallName(s.CallAt(pair.Call)) + " is inside a message of the assistant"
	f.AddSentence(s.HistoryReason(f.Item))
	if pair.Call.Item != f.Item {
		f.Related = []session.Place{s.ItemPlace(pair.Call.Item)}
	}
	if !s.IsHistory(f.Item) {
		f.SetFix(rules.Lossless, "move the result after the message",
			session.Edit{Op: session.Move, Ref: s.ResultPart(pair.Result), To: s.ID, After: s.ItemRef(s.AnswerPlace(pair.Call))})
		f.Failing = func(profile *rules.Profile) string {
			return s.ProviderError(profile, min(pair.Call.Item, pair.Result.Item))
		}
	}
	p.Report(f)
}

// reportUserCalls reports calls in messages of the user: whose they are cannot be
// told, so they stay.
func reportUserCalls(p *rules.Pass, s *rules.Subject) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Role != session.User || !s.OnWire(i) {
			continue
		}
		for n := range it.Calls {
			f := p.FindCall(s, pairing.Occurrence{Item: i, Nth: n}, it.Calls[n].ID)
			f.Message = "call " + rules.CallName(&it.Calls[n]) + " is inside a message of the user"
			f.AddSentence(s.HistoryReason(i))
			p.Report(f)
		}
	}
}
