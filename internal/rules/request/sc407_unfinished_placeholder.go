package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var unfinishedPlaceholder = rules.Rule{
	ID: "SC407", Name: "unfinished-placeholder", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a streamed message that was never finished",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		for i := range s.Items {
			if !s.Items[i].Flags.Has(session.Unfinished) || !s.IsOwn(i) && !isLast(s, i) {
				continue // a leaked one is part of its leak
			}
			f := p.FindItem(s.Session, i)
			f.Message = "the message was never finished. Its end is not recorded, so its text may stop in the middle."
			switch {
			case s.Items[i].Flags.Has(session.Blank):
				f.Severity = rules.Info // no half sentence that a model could take for a whole one
				f.Message = "the message has no text. Its turn ended with reasoning only, or stopped before the first word."
			case isLast(s, i):
				f.Severity = rules.Info
				f.AddSentence("That happens when a run is stopped")
			case s.IsHistory(i):
				f.Severity = rules.Info
			}
			if p.Store.Closes && p.Store.WriterOf(s.Session) == session.WriterDead {
				f.SetFix(rules.Lossless, "give the message the end of one that was cancelled", closeMessage(f.Ref))
			}
			p.Report(f)
		}
	}),
}

// closeMessage gives a message an end.
func closeMessage(message session.Ref) session.Edit {
	no := "false"
	return session.Edit{Op: session.Set, Ref: message, Field: session.FieldUnfinished, Value: &no}
}

// isLast reports whether no message follows the item.
func isLast(s *rules.Subject, item int) bool {
	for i := item + 1; i < len(s.Items); i++ {
		if s.Items[i].OnWire() {
			return false
		}
	}
	return true
}
