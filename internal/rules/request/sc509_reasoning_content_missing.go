package request

import (
	"strings"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var reasoningContentMissing = rules.Rule{
	ID: "SC509", Name: "reasoning-content-missing", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "turns with tool calls lack the reasoning that the provider requires", Profiled: true, Wire: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		thinks := thinkingState(j.Subject)
		if thinks == session.No {
			return
		}
		var items []int
		for i, it := range j.SentItems() {
			if it.Role == session.Assistant && len(it.Calls) > 0 && !it.HasBlock(session.ReasoningBlock) {
				items = append(items, i)
			}
		}
		p.ReportSent(j, items, func(f *rules.Finding) {
			f.Message = rules.CountedNoun(len(items), "turn") + " with tool calls " + rules.VerbForm(len(items), "has", "have") + " no reasoning, which the provider requires"
			if thinks == session.Unsaid {
				f.Severity = rules.Warning
				f.Message += " while the model thinks"
				f.AddSentence("The session does not say whether it does")
			}
			f.Sent = "an empty reasoning_content in these turns"
		})
	}),
}

// The models that always think, and those of the others that never do, by their
// names. Their later versions (v3.1, k2.5) do both.
var (
	thinkingModel = pattern.Lazy(`deepseek-r1|-reasoner|-thinking`)
	plainModel    = pattern.Lazy(`deepseek-(chat|coder|v2)|(deepseek-v3|kimi-k2)($|[^.\d])`)
)

// thinkingState says whether the next request is made with thinking: as the session
// says, else as the name of its model tells, else as its other turns show.
func thinkingState(s *rules.Subject) session.Tristate {
	model := strings.ToLower(s.Model)
	switch {
	case s.Thinking != session.Unsaid:
		return s.Thinking
	case thinkingModel().MatchString(model):
		return session.Yes
	case plainModel().MatchString(model):
		return session.No
	}
	for i := range s.Items {
		if s.Items[i].HasBlock(session.ReasoningBlock) {
			return session.Yes
		}
	}
	return session.Unsaid
}
