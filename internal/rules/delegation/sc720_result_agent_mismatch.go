package delegation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var resultAgentMismatch = rules.Rule{
	ID: "SC720", Name: "result-agent-mismatch", Severity: rules.Info, Safety: rules.Lossless, Scope: rules.PerTree | rules.PerComparison, Retells: hasOtherAgent, Since: "0.1.0",
	Title: "a delegation's result has the wrong agent name, or comes before its sub-session",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		for _, d := range s.Replay.Delegations {
			if d.Result >= 0 && d.Call().Delegation.Blocking {
				reportResultAgent(p, s, d)
			}
		}
	}),
}

func reportResultAgent(p *rules.Pass, s *rules.Subject, d *replay.Delegation) {
	result := &s.Items[d.Result]
	foreign := result.Agent() != "" && d.Caller() != "" && result.Agent() != d.Caller() && !handedTo(s, result.Agent(), d)
	early := d.Reference > d.Result && sameGroup(s, d.Result, d.Reference)
	if !foreign && !early {
		return
	}
	f := p.FindItem(s.Session, d.Result)
	f.Call = d.Call().ID
	fix, titles := rules.Fix{Safety: rules.Lossless}, []string(nil)
	var faults []string
	if foreign {
		faults = append(faults, "has the agent name "+rules.QuoteText(result.Agent())+" instead of "+rules.QuoteText(d.Caller()))
	}
	if early {
		faults = append(faults, "comes before its sub-session")
	}
	f.Message = "the result of call " + rules.CallName(d.Call()) + " " + rules.JoinWords(faults)
	if foreign && p.Store.ForeignText {
		f.AddSentence("A repair leaves the name as it is, because it decides what each agent is shown")
	} else if foreign {
		caller := d.Caller()
		titles = append(titles, "set the agent name of the result to "+rules.QuoteText(caller))
		fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: f.Ref, Field: "agent_name", Value: &caller})
	}
	if early {
		titles = append(titles, "move the result after the reference to its sub-session")
		fix.Edits = append(fix.Edits, session.Edit{Op: session.Move, Ref: f.Ref, To: s.ID, After: s.ItemRef(d.Reference)})
	}
	if len(fix.Edits) > 0 {
		fix.Title = rules.JoinWords(titles)
		f.Fixes = []rules.Fix{fix}
	}
	p.Report(f)
}

// sameGroup reports whether nothing but results and references stands between two
// items: then they belong to one answer group.
func sameGroup(s *rules.Subject, from, to int) bool {
	for i := from + 1; i < to; i++ {
		it := &s.Items[i]
		if it.Kind == session.Summary || it.OnWire() && !it.IsAnswer() && s.IsOwn(i) {
			return false
		}
	}
	return true
}

// resultsStay reports whether the result of a handoff among the same calls
// carries the caller's name: then results do not follow a handoff.
func resultsStay(s *rules.Subject, d *replay.Delegation) bool {
	return slices.ContainsFunc(s.Pairs.Pairs, func(pair pairing.Pair) bool {
		return pair.Call.Item == d.Item && session.IsHandoff(s.CallAt(pair.Call).Name) && s.Items[pair.Result.Item].Agent() == d.Caller()
	})
}

// handedTo reports whether the agent goes on in the delegation's own session: a
// handoff among the same calls made it the one that results belong to.
func handedTo(s *rules.Subject, agent string, d *replay.Delegation) bool {
	if len(s.Items[d.Item].Calls) < 2 || resultsStay(s, d) {
		return false
	}
	for i := d.Result + 1; i < len(s.Items); i++ {
		it := &s.Items[i]
		switch {
		case it.Kind != session.Message || !s.IsOwn(i) || it.IsAnswer():
		case it.Role == session.Assistant:
			return it.Agent() == agent
		default:
			return false
		}
	}
	return false
}

// hasOtherAgent: nothing but the agent of the finding's item is another one.
func hasOtherAgent(f *rules.Finding, d *replay.Difference) bool {
	return d.Kind == replay.Altered && d.Stored == f.Session && d.StoredItem == f.Item && slices.Equal(d.What, []string{"agent"})
}
