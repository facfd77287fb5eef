package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var thinkingMissing = Rule{
	ID: "SC501", Name: "thinking-missing", Severity: Error, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "thinking is on, and the last tool turn does not begin with it", Profiled: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			if !j.AsIs && p.Store.Writer != session.WriterLive {
				continue // the user's next message closes the loop
			}
			if item := j.unthinking(); item >= 0 {
				begins := "tool_use"
				if j.Items[item].Text != 0 {
					begins = "text"
				}
				f := p.findSent(j, []int{item}, Said{Name: begins})
				f.Message = "thinking is on, but the last turn that called tools does not begin with its thinking, which nobody can write anew; " +
					"go on with thinking off, or with a new message of the user"
				p.Report(f)
			}
		}
	},
}

// unthinking is the item of the last turn of an open tool loop, if thinking is on
// and the turn does not begin with it; else -1. The loop is open while results
// are the last that was said.
func (s *Subject) unthinking() int {
	turns := s.turns()
	end := len(turns) - 1
	if s.Closed || s.Thinking == session.No || end < 1 || turns[end].role != session.Tool || turns[end].pending {
		return -1
	}
	last := turns[end-1].item
	if blocks := s.Items[last].Blocks; len(blocks) > 0 && blocks[0].Kind == session.ReasoningBlock {
		return -1
	}
	loop := turns[:end-1]
	for n := len(loop) - 1; n >= 0; n-- {
		if loop[n].role == session.User {
			loop = loop[n:]
			break
		}
	}
	thinks := slices.ContainsFunc(loop, func(t turn) bool {
		return t.role == session.Assistant && s.Items[t.item].Has(session.ReasoningBlock)
	})
	if s.Thinking == session.Yes || thinks {
		return last
	}
	return -1
}
