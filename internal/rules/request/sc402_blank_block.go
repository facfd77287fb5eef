package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var blankBlock = rules.Rule{
	ID: "SC402", Name: "blank-block", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Profiled: true, Since: "0.1.0",
	Title: "a blank text beside other content",
	Run: func(p *rules.Pass) {
		for j := range p.Judged() {
			next, past := j.WireItems(func(i int) bool { return hasBlank(&j.Items[i]) && !streaming(p, j.Subject, i) })
			what := "with a blank text beside other content"
			if len(past) > 0 {
				p.Report(findPast(p, j, past, what))
			}
			if len(next) == 0 {
				continue
			}
			f := p.FindSent(j, next, rules.Said{Block: blankAt(&j.Items[next[0]])})
			f.Message = "the next request would contain " + rules.Count(len(next), "message") + " " + what
			if fix := emptyTexts(j.Subject, next); len(fix.Edits) > 0 {
				f.Fixes = []rules.Fix{fix}
			}
			p.Report(f)
		}
	},
}

// hasBlank reports whether a message of a user or of the assistant has a blank
// text beside something else.
func hasBlank(it *session.Item) bool {
	return (it.Role == session.User || it.Role == session.Assistant) && !empty(it) &&
		(it.Flags.Has(session.BlankText) || slices.ContainsFunc(it.Blocks, isBlank))
}

func isBlank(b session.Block) bool { return b.Kind == session.TextBlock && b.Blank }

// blankAt is the place of the blank text among the parts of a message; it comes
// first where the parts are not known.
func blankAt(it *session.Item) int { return max(0, slices.IndexFunc(it.Blocks, isBlank)) }

// emptyTexts is the fix that takes blank texts away. A blank one beside a text
// that says something stays: an edit knows only the whole text.
func emptyTexts(s *rules.Subject, items []int) rules.Fix {
	fix := rules.Fix{Safety: rules.Kept}
	for _, i := range items {
		if s.Items[i].Flags.Has(session.BlankText) {
			nothing := ""
			fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: s.ItemRef(i), Field: session.FieldText, Value: &nothing})
		}
	}
	fix.Title = "remove the blank text from " + rules.Count(len(fix.Edits), "message")
	return fix
}
