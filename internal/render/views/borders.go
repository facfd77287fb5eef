package views

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// borderBlocks are what passed between sessions and their children.
func borderBlocks(v *view.View, full bool) document.Document {
	if len(v.Borders) == 0 {
		return document.Document{render.Say(noBorders)}
	}
	var doc document.Document
	told := map[*check.Finding]bool{}
	for i := range v.Borders {
		b := &v.Borders[i]
		fresh, besides := crossedFindings(b, told)
		lines := append(borderLines(b), besides)
		for n := range lines {
			lines[n].Whole = full
			if lines[n].Label == "" {
				lines[n].Label = lines[n-1].Label
			}
		}
		it := document.Item{Text: document.Words(render.Span(document.Lead, borderHead(b, v.Shown.Session))), Below: []document.Block{lines}}
		for _, f := range fresh {
			it.Below = append(it.Below, render.NewFinding(f, render.SaidMessage(f), false))
		}
		doc = append(doc, document.List{it}, document.Gap{})
	}
	return append(doc, render.Say(borderCount(v)))
}

const noBorders = "The calls of this session started no other session."

// borderHead names a call and the child that it started.
func borderHead(b *view.Border, shown *session.Session) string {
	who := b.Agent
	if who == "" {
		who = "an agent without a name"
	}
	text := fmt.Sprintf("item %d: %s (%s) asks %s", b.Item, b.Call.ID, b.Call.Name, who)
	if b.Caller != shown {
		text = "in " + rules.ShortID(b.Caller.ID) + ", " + text
	}
	switch {
	case b.Child == nil:
		return text + " in a session that is not known"
	case b.Shared > 1:
		return text + fmt.Sprintf(" in session %s, which %d calls share", rules.ShortID(b.Child.ID), b.Shared)
	}
	return text + fmt.Sprintf(" in session %s, %s", rules.ShortID(b.Child.ID), ui.Count(len(b.Child.Items), "item"))
}

// borderLines are what passed a border, but for what no rule would let pass.
func borderLines(b *view.Border) document.List {
	goal := "a task that is not known"
	if b.Goal != "" {
		goal = "the goal, " + ui.Bytes(int64(len(b.Goal)))
	}
	lines := document.List{{Label: "went in", Text: document.Words(goal), Said: b.Goal}}
	if b.Shared > 1 && len(b.Given) == 0 {
		lines = append(lines, render.Entry("the request of this call cannot be told apart from those of the others"))
	}
	for _, i := range b.Given {
		it := &b.Child.Items[i]
		line := render.Entry(fmt.Sprintf("item %d of the sub-session, %s", i, givenWords(it)))
		if it.Body != nil && it.Body.Text != b.Goal {
			line.Said = it.Body.Text
		}
		lines = append(lines, line)
	}
	return append(lines, outcomeLine(b.Out))
}

// crossedFindings are the findings about a border that no border before has told, and how many
// there are in words.
func crossedFindings(b *view.Border, told map[*check.Finding]bool) (fresh []*check.Finding, line document.Item) {
	var again []string
	for _, f := range b.Crossed {
		if told[f] {
			again = append(again, f.Rule.ID)
		} else {
			fresh = append(fresh, f)
		}
		told[f] = true
	}
	var parts []string
	if len(fresh) > 0 {
		parts = append(parts, ui.Count(len(fresh), "finding"))
	}
	if len(again) > 0 {
		parts = append(parts, strings.Join(again, ", ")+" (see above)")
	}
	if len(parts) == 0 {
		parts = []string{"no findings"}
	}
	return fresh, document.Item{Label: "besides", Text: document.Words(strings.Join(parts, " and "))}
}

// givenWords say what a child was given before its agent spoke.
func givenWords(it *session.Item) string {
	words := it.Kind.String()
	if it.Kind == session.Message {
		words = it.Role.String() + " message"
	}
	if it.Flags.Has(session.Implicit) {
		words += ", implicit"
	}
	if it.Body != nil {
		words += ", " + ui.Bytes(int64(len(it.Body.Text)))
	}
	return words
}

func outcomeLine(out *view.Outcome) document.Item {
	if out == nil {
		return document.Item{Label: "came out", Text: document.Words("nothing: the call has no result")}
	}
	what := fmt.Sprintf("item %d, %s", out.Item, ui.Bytes(int64(len(out.Result.Text))))
	for _, state := range []struct {
		is   bool
		word string
	}{
		{out.Answer, "the last answer there"}, {out.Result.IsError, "an error"},
		{out.Result.Pending, "waiting for approval"}, {out.Result.Synthetic, "a placeholder"},
	} {
		if state.is {
			what += ", " + state.word
		}
	}
	return document.Item{Label: "came out", Text: document.Words(what), Said: out.Result.Text}
}

// borderCount is the count at the end.
func borderCount(v *view.View) string {
	told := map[*check.Finding]bool{}
	for i := range v.Borders {
		for _, f := range v.Borders[i].Crossed {
			told[f] = true
		}
	}
	return fmt.Sprintf("%s, %s about what else crossed.", ui.Count(len(v.Borders), "delegation"), ui.Count(len(told), "finding"))
}
