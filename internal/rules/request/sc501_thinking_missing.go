package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var thinkingMissing = rules.Rule{
	ID: "SC501", Name: "thinking-missing", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "thinking is on, but the last tool turn does not begin with thinking", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		if !j.AsIs && p.Store.WriterOf(j.Session) != session.WriterLive {
			return // the user's next message closes the loop
		}
		if item := unthinkingItem(j.Subject); item >= 0 {
			begins := "tool_use"
			if j.Items[item].Text != 0 {
				begins = "text"
			}
			f := p.FindSent(j, []int{item}, rules.Said{Name: begins})
			f.Message = "thinking is on, but the last turn with tool calls does not begin with thinking"
			f.AddSentence("That thinking cannot be restored: turn thinking off, or continue with a new user message")
			p.Report(f)
		}
	}),
}

// unthinkingItem is the item of the last turn of an open tool loop, if thinking is on
// and the turn does not begin with it; else -1. The loop is open while results
// are the last that was said.
func unthinkingItem(s *rules.Subject) int {
	turns := s.Turns()
	end := len(turns) - 1
	if s.Closed || s.Thinking == session.No || end < 1 || turns[end].Role != session.Tool || turns[end].Pending {
		return -1
	}
	last := turns[end-1].Item
	if blocks := s.Items[last].Blocks; len(blocks) > 0 && blocks[0].Kind == session.ReasoningBlock {
		return -1
	}
	loop := turns[:end-1]
	for n := len(loop) - 1; n >= 0; n-- {
		if loop[n].Role == session.User {
			loop = loop[n:]
			break
		}
	}
	thinks := slices.ContainsFunc(loop, func(t rules.Turn) bool {
		return t.Role == session.Assistant && s.Items[t.Item].HasBlock(session.ReasoningBlock)
	})
	if s.Thinking == session.Yes || thinks {
		return last
	}
	return -1
}
