package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var callInFlight = rules.Rule{
	ID: "SC102", Name: "call-in-flight", Severity: rules.Info, Safety: rules.None, Allow: "waiting", Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call whose result may still come",
	Run: func(p *rules.Pass) {
		eachMissing(p, running, func(s *rules.Subject, m pairing.Missing, _ *replay.Delegation) {
			f := p.FindCall(s, m.Call, s.CallAt(m.Call).ID)
			c := s.CallAt(m.Call)
			switch {
			case c.Owed:
				f.Message = "call " + rules.CallName(c) + " has no result yet. " + p.Store.Title + " adds that of the sub-session itself when the session goes on."
				p.Report(f)
				return
			case c.Waits || c.Asked:
				reportOpen(p, s, m, f)
				return
			}
			f.Message = "call " + rules.CallName(s.CallAt(m.Call)) + " has no result yet"
			f.AddSentence(whoWrites(p, s.Session))
			if p.Store.WriterOf(s.Session) == session.WriterUnknown && !s.IsHistory(f.Item) {
				f.Severity = rules.Warning
			}
			if !s.IsHistory(f.Item) { // the result may come, but a request without it is refused now
				f.Failing = func(profile *rules.Profile) string { return s.ProviderError(profile, f.Item) }
			}
			p.Report(f)
		})
		for _, s := range p.Viewers {
			reportWaiting(p, s)
		}
	},
}

// whoWrites says in a sentence who may still write the result of a call.
func whoWrites(p *rules.Pass, s *session.Session) string {
	switch w := p.Store.WriterOf(s); {
	case w == session.WriterUnknown:
		return "sessctl cannot tell whether the runtime is still running; if it has stopped, use --assume-dead"
	case w == session.WriterDead:
		return "The runtime has stopped"
	case s.Writer == session.WriterLive:
		return "Something is still writing to this session"
	case p.Store.WriterName != "":
		return p.Store.WriterName + " has the store open"
	}
	return "Another process has the store open"
}

// reportOpen reports a call that somebody outside may still answer, however long ago it
// was made. Until then it is sent without a result; where a person was asked, the answer
// is what comes next, and nothing is wrong. What says that there was none has to be
// allowed: nobody can tell whether the answer is on its way.
const unanswered = "A request before the answer is sent without its result"

func reportOpen(p *rules.Pass, s *rules.Subject, m pairing.Missing, f rules.Finding) {
	c := s.CallAt(m.Call)
	f.Message = "call " + rules.CallName(c) + " is waiting for an answer from outside"
	if s.IsHistory(f.Item) {
		f.AddSentence(s.HistoryReason(f.Item))
		p.Report(f)
		return
	}
	if c.Asked && m.Tail {
		f.AddSentence("A person was asked to approve it")
		f.AddSentence(unanswered)
	} else {
		f.AddSentence("Its tool runs long or needs an approval")
		f.AddSentence(unanswered)
		f.AddSentence(whoWrites(p, s.Session))
		if p.Store.WriterOf(s.Session) != session.WriterLive && (!m.Tail || p.Store.Loses["SC101"] == "") { // nothing follows, and no request fails
			f.Severity = rules.Warning
		}
	}
	f.Failing = func(profile *rules.Profile) string { return s.ProviderError(profile, f.Item) }
	switch {
	case s.Strayed[f.Call]:
		f.SetFix(rules.Manual, "decide which call the result belongs to")
	case p.Store.WriterOf(s.Session) == session.WriterDead && f.Call != "":
		f.Fixes = []rules.Fix{{
			Title:  "add a result that says that the run ended before the answer",
			Safety: rules.Lossless, Allow: []string{"waiting"},
			Edits: append([]session.Edit{addResult(s, m.Call, "SC102", session.NewItem{Text: unansweredText, IsError: true})}, endRuns(s, m.Call)...),
		}}
	}
	p.Report(f)
}

// reportWaiting reports the calls at the end of a session whose result is
// recorded as still running or waiting for approval, whoever lives: the approval
// can still be given.
func reportWaiting(p *rules.Pass, s *rules.Subject) {
	for _, pair := range s.Pairs.Pairs {
		if !s.ResultAt(pair.Result).Pending || s.Closed || !onlyResultsFollow(s, pair.Call.Item) {
			continue
		}
		f := p.FindCall(s, pair.Call, s.CallAt(pair.Call).ID)
		f.Message = "call " + rules.CallName(s.CallAt(pair.Call)) + " is still running or waiting for approval. Its recorded result says so."
		p.Report(f)
	}
}

// onlyResultsFollow reports whether the item is the last one but for results.
func onlyResultsFollow(s *rules.Subject, item int) bool {
	for i := item + 1; i < len(s.Items); i++ {
		if it := &s.Items[i]; it.OnWire() && (!it.IsAnswer() || pairing.EndsGroup(it)) {
			return false
		}
	}
	return true
}
