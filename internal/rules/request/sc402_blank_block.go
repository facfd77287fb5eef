package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var blankBlock = rules.Rule{
	ID: "SC402", Name: "blank-block", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Profiled: true, Since: "0.1.0",
	Title: "a blank text beside other content",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		next, past := j.WireItems(func(i int) bool { return hasBlank(p, &j, i) && !isStreaming(p, j.Subject, i) })
		what := "with a blank text beside other content"
		if len(past) > 0 {
			p.Report(findPast(p, j, past, what))
		}
		reportUnsent(p, &j, what, p.Store.BlankTexts, func(i int) bool { return !isEmpty(&j.Items[i]) && !hasBlank(p, &j, i) }, emptyTexts)
		if len(next) == 0 {
			return
		}
		f := p.FindSent(j, next, rules.Said{Block: blankAt(&j, next[0])})
		f.Message = "the next request would contain " + rules.CountedNoun(len(next), "message") + " " + what
		f.AddSentence(p.Store.BlankTexts)
		if fix := emptyTexts(p, j.Subject, next); len(fix.Edits) > 0 {
			f.Fixes = []rules.Fix{fix}
		}
		p.Report(f)
	}),
}

// hasBlank reports whether a message of a user or of the assistant is sent with a blank
// text beside something else, or a result with one that the provider minds.
func hasBlank(p *rules.Pass, j *rules.Judged, i int) bool {
	it := &j.Items[i]
	spoken := p.Store.PartsTexts || it.Role == session.User || it.Role == session.Assistant
	return !isEmpty(it) && (spoken && it.Flags.Has(session.BlankText) ||
		slices.ContainsFunc(it.Blocks, func(b session.Block) bool { return isBlank(b, j.Profile) && (spoken || b.Kind == session.ResultBlock) }))
}

// isBlank reports whether a part is sent and blank. Anthropic refuses a blank text in a
// result's list, too (awsl-project/maxx#257, Wei-Shaw/sub2api#1212); Bedrock takes it
// (NousResearch/hermes-agent#55092).
func isBlank(b session.Block, by *rules.Profile) bool {
	return b.Blank && !b.Unsent && (b.Kind == session.TextBlock || b.Kind == session.ResultBlock && by.Name == "anthropic")
}

// reportUnsent reports messages with blank texts that only other versions of the runtime send.
func reportUnsent(p *rules.Pass, j *rules.Judged, what, why string, of func(i int) bool, fix func(*rules.Pass, *rules.Subject, []int) rules.Fix) {
	items, _ := j.WireItems(func(i int) bool { return isUnsent(&j.Items[i]) && of(i) })
	if len(items) == 0 {
		return
	}
	f := findPast(p, *j, items, what)
	f.AddSentence(why)
	f.Fixes = []rules.Fix{fix(p, j.Subject, items)}
	p.Report(f)
}

func isUnsent(it *session.Item) bool {
	return slices.ContainsFunc(it.Blocks, func(b session.Block) bool { return b.Blank && b.Unsent })
}

// blankAt is the place of the blank text among the parts of a message; it comes
// first where the parts are not known.
func blankAt(j *rules.Judged, i int) int {
	return max(0, slices.IndexFunc(j.Items[i].Blocks, func(b session.Block) bool { return isBlank(b, j.Profile) }))
}

// emptyTexts is the fix that takes blank texts away. Most stores know only the whole text of
// a message: there, a blank one beside a text that says something stays.
func emptyTexts(p *rules.Pass, s *rules.Subject, items []int) rules.Fix {
	fix := rules.Fix{Safety: rules.Kept}
	for _, i := range items {
		if p.Store.PartsTexts || s.Items[i].Flags.Has(session.BlankText) {
			nothing := ""
			fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: s.ItemRef(i), Field: session.FieldText, Value: &nothing})
		}
	}
	fix.Title = "remove the blank text from " + rules.CountedNoun(len(fix.Edits), "message")
	return fix
}
