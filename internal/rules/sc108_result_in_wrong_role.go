package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var resultInWrongRole = Rule{
	ID: "SC108", Name: "result-in-wrong-role", Severity: Error, Safety: Lossless, Scope: PerTree, Profiled: true, Since: "0.1.0",
	Title: "a result within the assistant's message, or a call within the user's",
	Run: func(p *Pass) {
		for _, s := range p.Voices {
			for n, pair := range s.Pairs.Pairs {
				if pair.Place == pairing.Inside && !s.shadowed(n) && !s.split(pair) {
					reportInside(p, s, pair)
				}
			}
			reportUserCalls(p, s)
		}
	},
}

// reportInside reports a result that stands within an assistant's message. Where
// the provider does not look for it, its call is one without a result.
func reportInside(p *Pass, s *Subject, pair pairing.Pair) {
	f := p.findCall(s, pair.Result, s.call(pair.Call).ID)
	f.Message = "the result of call " + callName(s.call(pair.Call)) + " stands within a message of the assistant" + s.because(f.Item)
	if pair.Call.Item != f.Item {
		f.Related = []session.Place{s.At(pair.Call.Item)}
	}
	if !s.history(f.Item) {
		f.Fixes = []Fix{{Title: "move the result behind the message", Safety: Lossless, Edits: []session.Edit{
			{Op: session.Move, Ref: s.resultPart(pair.Result), To: s.ID, After: s.ItemRef(s.answerPlace(pair.Call))},
		}}}
		f.failing = func(profile *Profile) string { return s.providerError(profile, min(pair.Call.Item, pair.Result.Item)) }
	}
	p.Report(f)
}

// reportUserCalls reports calls in messages of the user: whose they are cannot be
// told, so they stay.
func reportUserCalls(p *Pass, s *Subject) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Role != session.User || !s.onWire(i) {
			continue
		}
		for n := range it.Calls {
			f := p.findCall(s, pairing.Occurrence{Item: i, Nth: n}, it.Calls[n].ID)
			f.Message = "call " + callName(&it.Calls[n]) + " stands within a message of the user" + s.because(i)
			p.Report(f)
		}
	}
}
