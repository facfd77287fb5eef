package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var emptyMessage = Rule{
	ID: "SC401", Name: "empty-message", Severity: Error, Safety: Kept, Scope: PerTree, Profiled: true, Since: "0.1.0",
	Title: "a message that says nothing",
	Run: func(p *Pass) {
		for j := range p.judged() {
			next, past := j.wireItems(func(i int) bool { return empty(&j.Items[i]) && !p.streaming(j.Subject, i) })
			what := "without text, calls, results, media and reasoning"
			if len(past) > 0 {
				p.Report(p.findPast(j, past, what))
			}
			if len(next) == 0 {
				continue
			}
			f := p.findSent(j, next, Said{})
			f.ProviderError = j.Profile.Error("SC401", Said{Message: j.emptyNumber(next[0])})
			f.Message = "the request would hold " + count(len(next), "message") + " " + what
			fix := Fix{Title: "take " + count(len(next), "empty message") + " out of the session; the receipt keeps them", Safety: Kept}
			for _, i := range next {
				fix.Edits = append(fix.Edits, session.Edit{Op: session.Quarantine, Ref: j.ItemRef(i)})
			}
			f.Fixes = []Fix{fix}
			p.Report(f)
		}
	},
}

// findPast words a finding about items that reach no further request.
func (p *Pass) findPast(j Judged, items []int, what string) Finding {
	f := p.findSent(j, items, Said{})
	f.Severity, f.ProviderError = Info, ""
	f.Message = "the session holds " + count(len(items), "message") + " " + what + j.because(items[0])
	return f
}

// empty reports whether a message of a user or of the assistant says nothing at
// all.
func empty(it *session.Item) bool {
	return (it.Role == session.User || it.Role == session.Assistant) && it.Flags.Has(session.Blank) &&
		!it.Has(session.ReasoningBlock) && !it.Has(session.MediaBlock) && !it.Has(session.UnknownBlock)
}

// streaming reports whether the item is the last message of a run that may still
// be writing it.
func (p *Pass) streaming(s *Subject, item int) bool {
	return s.Items[item].Flags.Has(session.Unfinished) && s.last(item) && p.Store.Writer != session.WriterDead
}

// emptyNumber is the number that an empty message would have in a request that
// holds it: the one that the next message has without it.
func (j *Judged) emptyNumber(item int) int {
	numbers := j.MessageNumbers(j.Profile)
	follows := slices.IndexFunc(numbers[item:], func(n int) bool { return n >= 0 })
	return max(slices.Max(numbers[:item+1])+1, numbers[item+follows])
}
