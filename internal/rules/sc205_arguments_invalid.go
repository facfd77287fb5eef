package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var argumentsInvalid = Rule{
	ID: "SC205", Name: "arguments-invalid", Severity: Error, Safety: Lossless, Scope: PerTree, Profiled: true, Since: "0.1.0",
	Title: "the arguments of a call are not a JSON object",
	Run: func(p *Pass) {
		for _, s := range p.Voices {
			for i := range s.Items {
				if !s.onWire(i) {
					continue
				}
				for n := range s.Items[i].Calls {
					if s.Items[i].Calls[n].Form != session.ArgsObject {
						reportArguments(p, s, pairing.Occurrence{Item: i, Nth: n})
					}
				}
			}
		}
	},
}

func reportArguments(p *Pass, s *Subject, at pairing.Occurrence) {
	f := p.findCall(s, at, s.call(at).ID)
	f.Message = "the arguments of call " + callName(s.call(at)) + " are not JSON" + s.because(f.Item)
	if s.call(at).Form == session.ArgsValue {
		f.Message = "the arguments of call " + callName(s.call(at)) + " are JSON, but not an object" + s.because(f.Item)
	}
	if !s.history(f.Item) {
		f.failing = p.callError(s, at)
		f.Fixes = []Fix{{
			Title: "put the text of the arguments into an object", Safety: Lossless,
			Edits: []session.Edit{{Op: session.Wrap, Ref: s.callPart(at)}},
		}}
	}
	p.Report(f)
}
