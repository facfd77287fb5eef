package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var callInFlight = Rule{
	ID: "SC102", Name: "call-in-flight", Severity: Info, Safety: None, Allow: "waiting", Scope: PerTree, Since: "0.1.0",
	Title: "a call whose result may still come",
	Run: func(p *Pass) {
		eachMissing(p, running, func(s *Subject, m pairing.Missing, _ *replay.Delegation) {
			f := p.findCall(s, m.Call, s.call(m.Call).ID)
			if c := s.call(m.Call); c.Waits || c.Asked {
				p.reportOpen(s, m, f)
				return
			}
			f.Message = "call " + callName(s.call(m.Call)) + " has no result yet; " + p.whoWrites()
			if p.Store.Writer == session.WriterUnknown && !s.history(f.Item) {
				f.Severity = Warning
			}
			if !s.history(f.Item) { // the result may come, but a request without it is refused now
				f.failing = func(profile *Profile) string { return s.providerError(profile, f.Item) }
			}
			p.Report(f)
		})
		for _, s := range p.Voices {
			reportWaiting(p, s)
		}
	},
}

// whoWrites says in a clause who may still write the result of a call.
func (p *Pass) whoWrites() string {
	switch {
	case p.Store.Writer == session.WriterUnknown:
		return "whether its runtime still runs cannot be told. If it does not, --assume-dead says so"
	case p.Store.Writer == session.WriterDead:
		return "its runtime is gone"
	case p.Store.WriterName != "":
		return p.Store.WriterName + " has the store open"
	}
	return "another process has the store open"
}

// reportOpen reports a call that somebody outside may still answer, however long ago it
// was made. Until then it is sent without a result; where a person was asked, the answer
// is what comes next, and nothing is wrong. What says that there was none has to be
// allowed: nobody can tell whether the answer is on its way.
func (p *Pass) reportOpen(s *Subject, m pairing.Missing, f Finding) {
	c := s.call(m.Call)
	f.Message = "call " + callName(c) + " waits for somebody outside to answer"
	if s.history(f.Item) {
		f.Message += s.because(f.Item)
		p.Report(f)
		return
	}
	if c.Asked && m.Tail {
		f.Message += ": a person was asked to approve of it. A message that comes before the answer is sent without a result"
	} else {
		f.Message += ": its tool is a long-running one, or needs an approval. A message that comes before the answer is sent without a result; " + p.whoWrites()
		if p.Store.Writer != session.WriterLive {
			f.Severity = Warning
		}
	}
	f.failing = func(profile *Profile) string { return s.providerError(profile, f.Item) }
	switch {
	case s.strayed[f.Call]:
		f.Fixes = []Fix{{Title: "decide whose the result is", Safety: Manual}}
	case p.Store.Writer == session.WriterDead && f.Call != "":
		f.Fixes = []Fix{{
			Title:  "add a result that says that the run ended before an answer",
			Safety: Lossless, Allow: []string{"waiting"},
			Edits: []session.Edit{s.addResult(m.Call, "SC102", session.NewItem{Text: unansweredText, IsError: true})},
		}}
	}
	p.Report(f)
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
