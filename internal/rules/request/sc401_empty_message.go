package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var emptyMessage = rules.Rule{
	ID: "SC401", Name: "empty-message", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Profiled: true, Since: "0.1.0",
	Title: "a message without any content",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		empties := func(i int) bool {
			it := &j.Items[i]
			return (isEmpty(it) || j.Profile.WantsMore && onlyThinks(it)) && !isStreaming(p, j.Subject, i)
		}
		next, past := j.WireItems(func(i int) bool { return empties(i) && !isUnsent(&j.Items[i]) })
		what := "without any content"
		if len(past) > 0 {
			p.Report(findPast(p, j, past, what))
		}
		reportUnsent(p, &j, what, p.Store.BlankMessages, empties, removeEmpty)
		if len(next) == 0 {
			return
		}
		f := p.FindSent(j, next, rules.Said{})
		f.ProviderError = j.Profile.ErrorText("SC401", rules.Said{Message: emptyNumber(&j, next[0])})
		f.Message = "the next request would contain " + rules.CountedNoun(len(next), "message") + " " + what
		f.Fixes = []rules.Fix{removeEmpty(p, j.Subject, next)}
		p.Report(f)
	}),
}

// removeEmpty is the fix that takes messages away that say nothing, or ends them.
func removeEmpty(p *rules.Pass, s *rules.Subject, items []int) rules.Fix {
	fix := rules.Fix{Title: "remove " + rules.CountedNoun(len(items), "empty message") + "; the receipt keeps " + rules.VerbForm(len(items), "it", "them"), Safety: rules.Kept}
	for _, i := range items {
		if p.Store.Closes && s.Items[i].Flags.Has(session.Unfinished) {
			fix.Title = "give the message the end of one that was cancelled"
			fix.Edits = append(fix.Edits, closeMessage(s.ItemRef(i)))
			continue
		}
		fix.Edits = append(fix.Edits, session.Edit{Op: session.Quarantine, Ref: s.ItemRef(i)})
	}
	return fix
}

// findPast words a finding about items that reach no further request.
func findPast(p *rules.Pass, j rules.Judged, items []int, what string) rules.Finding {
	f := p.FindSent(j, items, rules.Said{})
	f.Severity, f.ProviderError = rules.Info, ""
	f.Message = "the session has " + rules.CountedNoun(len(items), "message") + " " + what
	f.AddSentence(j.HistoryReason(items[0]))
	return f
}

// isEmpty reports whether a message of a user or of the assistant says nothing at
// all.
func isEmpty(it *session.Item) bool {
	return (it.Role == session.User || it.Role == session.Assistant) && it.Flags.Has(session.Blank) &&
		!it.HasBlock(session.ReasoningBlock) && !it.HasBlock(session.MediaBlock) && !it.HasBlock(session.UnknownBlock)
}

// onlyThinks reports whether an answer is nothing but reasoning.
func onlyThinks(it *session.Item) bool {
	return it.Role == session.Assistant && it.Flags.Has(session.Blank) && it.HasBlock(session.ReasoningBlock) &&
		!it.HasBlock(session.MediaBlock) && !it.HasBlock(session.UnknownBlock)
}

// isStreaming reports whether the item is the last message of a run that may still
// be writing it.
func isStreaming(p *rules.Pass, s *rules.Subject, item int) bool {
	return s.Items[item].Flags.Has(session.Unfinished) && isLast(s, item) && p.Store.WriterOf(s.Session) != session.WriterDead
}

// emptyNumber is the number that an empty message would have in a request that
// holds it: the one that the next message has without it.
func emptyNumber(j *rules.Judged, item int) int {
	numbers := j.MessageNumbers(j.Profile)
	follows := slices.IndexFunc(numbers[item:], func(n int) bool { return n >= 0 })
	return max(slices.Max(numbers[:item+1])+1, numbers[item+follows])
}
