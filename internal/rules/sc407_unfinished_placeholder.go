package rules

import (
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var unfinishedPlaceholder = Rule{
	ID: "SC407", Name: "unfinished-placeholder", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "a streaming message that was never finished",
	Run: func(p *Pass) {
		for _, s := range p.Voices {
			for i := range s.Items {
				if !s.Items[i].Flags.Has(session.Unfinished) || s.Replay.Steps[i].Action == replay.Skip && !s.last(i) {
					continue // a leaked one is part of its leak
				}
				f := p.find(s.Session, i)
				f.Message = "the message was never finished: it has no time, model or usage, so its text may stop in the middle"
				switch {
				case s.Items[i].Flags.Has(session.Blank):
					f.Severity = Info // no half sentence that a model could take for a whole one
					f.Message = "the message has no text: its turn ended with reasoning only, or stopped before the first word"
				case s.last(i):
					f.Severity = Info
					f.Message += ", as it does when a run is stopped"
				case s.history(i):
					f.Severity = Info
				}
				p.Report(f)
			}
		}
	},
}

// last reports whether no message follows the item.
func (s *Subject) last(item int) bool {
	for i := item + 1; i < len(s.Items); i++ {
		if s.Items[i].OnWire() {
			return false
		}
	}
	return true
}
