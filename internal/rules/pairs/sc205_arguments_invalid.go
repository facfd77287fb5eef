package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var argumentsInvalid = rules.Rule{
	ID: "SC205", Name: "arguments-invalid", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Profiled: true, Since: "0.1.0",
	Title: "the arguments of a call are not a JSON object",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		for i := range s.Items {
			if !s.OnWire(i) {
				continue
			}
			for n := range s.Items[i].Calls {
				if s.Items[i].Calls[n].Form != session.ArgsObject {
					reportArguments(p, s, pairing.Occurrence{Item: i, Nth: n})
				}
			}
		}
	}),
}

func reportArguments(p *rules.Pass, s *rules.Subject, at pairing.Occurrence) {
	f := p.FindCall(s, at, s.CallAt(at).ID)
	f.Message = "the arguments of call " + rules.CallName(s.CallAt(at)) + " are not JSON"
	if s.CallAt(at).Form == session.ArgsValue {
		f.Message = "the arguments of call " + rules.CallName(s.CallAt(at)) + " are JSON, but not an object"
	}
	f.AddSentence(s.HistoryReason(f.Item))
	if !s.IsHistory(f.Item) {
		f.Failing = p.CallError(s, at)
		f.SetFix(rules.Lossless, "wrap the text of the arguments in a JSON object", session.Edit{Op: session.Wrap, Ref: s.CallPart(at)})
	}
	p.Report(f)
}
