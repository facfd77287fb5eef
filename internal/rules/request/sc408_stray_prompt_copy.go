package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// shortText is the number of bytes below which people say the same as the
// assistant by chance: "yes", or the name of a file that it offered.
const shortText = 80

var strayPromptCopy = rules.Rule{
	ID: "SC408", Name: "stray-prompt-copy", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a user message that repeats the message before it",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		next, past := repeatedPrompts(s)
		for _, items := range [][]int{next, past} {
			p.ReportItems(s.Session, items, func(f *rules.Finding) {
				f.Message = rules.CountedNoun(len(items), "user message") + rules.VerbForm(len(items), " repeats", " repeat") + " the message before it word for word"
				f.AddSentence("A run without a new question can have stored the end of its own prompt")
				f.AddSentence(s.HistoryReason(items[0]))
				if s.IsHistory(items[0]) {
					f.Severity = rules.Info
				}
			})
		}
	}),
}

// repeatedPrompts lists the messages of users that say what stands before them: those of
// the next request, and those that are history.
func repeatedPrompts(s *rules.Subject) (next, past []int) {
	var before *session.Item
	return s.WireItems(func(i int) bool {
		it, last := &s.Items[i], before
		before = it
		return last != nil && it.Role == session.User && it.Size >= shortText && isRepeat(it, last)
	})
}

// isRepeat reports whether a user's message says what the assistant or a tool said
// before.
func isRepeat(it, before *session.Item) bool {
	if it.Text == 0 || len(it.Results) > 0 {
		return false
	}
	said := func(r session.Result) bool { return r.Digest == it.Text }
	return before.Role == session.Assistant && before.Text == it.Text || slices.ContainsFunc(before.Results, said)
}
