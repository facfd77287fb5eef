package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var blankBlock = Rule{
	ID: "SC402", Name: "blank-block", Severity: Error, Safety: Kept, Scope: PerTree, Profiled: true, Since: "0.1.0",
	Title: "a text of white space beside other content",
	Run: func(p *Pass) {
		for j := range p.judged() {
			next, past := j.wireItems(func(i int) bool { return hasBlank(&j.Items[i]) && !p.streaming(j.Subject, i) })
			what := "with a text that is only white space beside other content"
			if len(past) > 0 {
				p.Report(p.findPast(j, past, what))
			}
			if len(next) == 0 {
				continue
			}
			f := p.findSent(j, next, Said{Block: blankAt(&j.Items[next[0]])})
			f.Message = "the request would hold " + count(len(next), "message") + " " + what
			if fix := j.emptyTexts(next); len(fix.Edits) > 0 {
				f.Fixes = []Fix{fix}
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
func (s *Subject) emptyTexts(items []int) Fix {
	fix := Fix{Safety: Kept}
	for _, i := range items {
		if s.Items[i].Flags.Has(session.BlankText) {
			nothing := ""
			fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: s.ItemRef(i), Field: session.FieldText, Value: &nothing})
		}
	}
	fix.Title = "take the blank text out of " + count(len(fix.Edits), "message")
	return fix
}
