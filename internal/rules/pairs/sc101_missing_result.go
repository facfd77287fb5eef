package pairs

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var missingResult = rules.Rule{
	ID: "SC101", Name: "missing-result", Severity: rules.Error, Safety: rules.Lossless, Allow: "guesses", Scope: rules.PerTree | rules.PerComparison, Retells: lacksResult, Since: "0.1.0",
	Title: "a call never got a result",
	Run: func(p *rules.Pass) {
		eachMissing(p, lost, func(s *rules.Subject, m pairing.Missing, _ *replay.Delegation) {
			f := p.FindCall(s, m.Call, s.CallAt(m.Call).ID)
			f.Message = "call " + rules.CallName(s.CallAt(m.Call)) + " has no result"
			switch {
			case m.Tail && !s.Closed:
				f.AddSentence("The runtime that could have written it has stopped")
			case p.Store.Refuses != "":
				f.AddSentence("The run was interrupted, or the result was lost: " + p.Store.Refuses)
			}
			if does := p.Store.Adapts["SC101"]; does != "" { // every request is well formed
				f.Severity = rules.Warning
				f.AddSentence(p.Store.Title + " " + does + " each time. The session resumes, but its record says that the call still runs")
			}
			fix := rules.NewFix(rules.Lossless, "add a result that says that none was recorded",
				addResult(s, m.Call, "SC101", session.NewItem{Text: syntheticText, IsError: true}))
			if kept := keptBeside(s, f.Call); kept != nil {
				f.AddSentence("Its result is in a backup that the runtime made")
				fix = rules.NewFix(rules.Lossless, "put the result back that a backup of the runtime holds",
					addResult(s, m.Call, "SC101", session.NewItem{TextFrom: kept.KeptRef(), IsError: kept.Failed, Restored: true}))
			}
			if len(misnamedOf(s).calls[m.Call]) > 0 {
				f.AddSentence(mayBeOwn)
				fix = ownResult(s, m.Call)
			}
			if f.Call == "" {
				fix = rules.Fix{Title: "give the call an id, because no result can name it", Safety: rules.Manual}
			}
			if !waitsBeside(s, m.Call) {
				fix.Edits = append(fix.Edits, endRuns(s, m.Call)...)
			}
			if s.Strayed[f.Call] {
				f.AddSentence("A result for it is on another branch or of another agent, where it is not seen")
				fix = rules.Fix{Title: "decide which call the result belongs to", Safety: rules.Manual}
				if shows, ok := s.ShowHalf("put the result on this branch, too", func(it *session.Item) bool { return it.AnswersCall(f.Call) }); ok {
					fix = shows
				}
			}
			p.ReportCall(s, f, fix)
		})
	},
}

// keptBeside is the fault that tells of a result of a call which a backup of the runtime holds, nil
// for none.
func keptBeside(s *rules.Subject, call string) *session.Fault {
	at := slices.IndexFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.KeptBeside && slices.Contains(f.Calls, call) })
	if at < 0 {
		return nil
	}
	return &s.Faults[at]
}
