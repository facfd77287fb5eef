package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var callInFlight = Rule{
	ID: "SC102", Name: "call-in-flight", Severity: Info, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "a call at the end of the session that may still be running",
	Run: func(p *Pass) {
		eachMissing(p, running, func(s *Subject, m pairing.Missing, _ *replay.Delegation) {
			f := p.findCall(s, m.Call, s.call(m.Call).ID)
			f.Message = "call " + callName(s.call(m.Call)) + " has no result yet; "
			switch {
			case s.call(m.Call).Waits:
				f.Message = "call " + callName(s.call(m.Call)) + " waits for somebody outside to answer: its tool is a long-running one, or needs an approval"
			case p.Store.Writer == session.WriterUnknown:
				f.Message += "whether its runtime still runs cannot be told. If it does not, --assume-dead says so"
				if !s.history(f.Item) {
					f.Severity = Warning
				}
			case p.Store.WriterName != "":
				f.Message += p.Store.WriterName + " has the store open"
			default:
				f.Message += "another process has the store open"
			}
			if !s.history(f.Item) && !s.call(m.Call).Waits { // the result may come, but a request without it is refused now
				f.failing = func(profile *Profile) string { return s.providerError(profile, f.Item) }
			}
			p.Report(f)
		})
		for _, s := range p.Voices {
			reportWaiting(p, s)
		}
	},
}

// reportWaiting reports the calls at the end of a session whose result is
// recorded as still running or waiting for approval, whoever lives: the approval
// can still be given.
func reportWaiting(p *Pass, s *Subject) {
	for _, pair := range s.Pairs.Pairs {
		if !s.result(pair.Result).Pending || s.Closed || !s.onlyResultsFollow(pair.Call.Item) {
			continue
		}
		f := p.findCall(s, pair.Call, s.call(pair.Call).ID)
		f.Message = "call " + callName(s.call(pair.Call)) + " waits: its result is recorded as still running or waiting for approval"
		p.Report(f)
	}
}

// onlyResultsFollow reports whether the item is the last one but for results.
func (s *Subject) onlyResultsFollow(item int) bool {
	for i := item + 1; i < len(s.Items); i++ {
		if it := &s.Items[i]; it.OnWire() && (!it.Answers() || pairing.EndsGroup(it)) {
			return false
		}
	}
	return true
}
