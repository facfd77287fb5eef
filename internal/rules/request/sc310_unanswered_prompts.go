package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var unansweredPrompts = rules.Rule{
	ID: "SC310", Name: "unanswered-prompts", Severity: rules.Info, Safety: rules.Manual, Scope: rules.PerTree, Since: "0.1.0",
	Title: "the last prompts have no answer",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		list := lastPrompts(s.Session)
		if len(list) < 2 || s.Closed || p.Store.WriterOf(s.Session) == session.WriterLive { //nolint:mnd // one is a crash, or somebody waits
			return
		}
		slices.Reverse(list)
		f := p.FindItems(s.Session, list)
		f.Count = len(list)
		f.Message = "the last " + rules.CountedNoun(len(list), "prompt") + " have no answer"
		if f.AddSentence(s.Stalled.Why); s.Stalled.Why != "" {
			f.Severity, f.Hides = rules.Warning, true
			f.SetFix(rules.Manual, s.Stalled.Way)
		}
		p.Report(f)
	}),
}

// lastPrompts are the items of a session's last prompts, the last one first, behind everything that a
// model or a tool said, an error among it.
func lastPrompts(s *session.Session) (list []int) {
	for i := range slices.Backward(s.Items) {
		switch it := &s.Items[i]; {
		case it.Refusal() != session.Refusal{}:
			return list
		case it.Kind == session.Other, it.Flags&(session.Archived|session.Rewound|session.Compacted) != 0:
		case it.Kind != session.Message, it.Role != session.User && it.Role != session.System, len(it.Results) > 0:
			return list
		case it.OnWire() && it.Role == session.User && !it.Note && it.Flags&(session.Implicit|session.Blank|session.SummaryTurn) == 0:
			list = append(list, i)
		}
	}
	return list
}
