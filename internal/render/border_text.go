package render

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// borders print what passed between sessions and their children.
func (t *viewText) borders() {
	list := t.v.Borders
	if len(list) == 0 {
		t.out.WriteString(ui.Hang("", "", noBorders, t.paragraph))
	}
	told := map[*check.Finding]bool{}
	for i := range list {
		b := &list[i]
		fresh, besides := crossed(b, told)
		t.out.WriteString(ui.Hang("", "  ", ui.Bold.Render(ui.Clean(borderHead(b, t.v.Shown.Session))), t.paragraph-2))
		for _, line := range append(borderLines(b), besides) {
			t.borderLine(line)
		}
		for _, f := range fresh {
			t.add(findingOf(f, said(f), false))
		}
		t.out.WriteString("\n")
	}
	if len(list) > 0 {
		t.out.WriteString(ui.Hang("", "", borderCount(t.v), t.paragraph))
	}
	t.add(t.next()...)
}

const noBorders = "No call of this session started another one."

// borderLine prints what went in, came out or crossed, with its text: whole where that
// is asked for, else as much as the line holds.
func (t *viewText) borderLine(l borderLine) {
	head := "  " + ui.Pad(l.way, len("came out")) + "  "
	switch {
	case l.text == "":
		t.out.WriteString(ui.Hang(head, strings.Repeat(" ", len(head)), ui.Clean(l.what), t.paragraph))
	case t.opts.Full:
		t.out.WriteString(head + ui.Clean(l.what) + ":\n")
		for _, part := range wrapped(l.text, max(t.width-len(head), leastText)) {
			t.out.WriteString(strings.TrimRight(strings.Repeat(" ", len(head))+part.content, " ") + "\n")
		}
	default:
		room := max(t.width-len(head), leastText)
		t.out.WriteString(head + ui.Truncate(ui.WithExcerpt(ui.Clean(l.what)+":", l.text, room), room) + "\n")
	}
}

// borderLine is one thing that passed, in words, with its text.
type borderLine struct {
	way  string // "went in"; "" goes on with the one before
	what string
	text string // stored, whole; "" for none
}

// borderHead names a call and the child that it started.
func borderHead(b *view.Border, shown *session.Session) string {
	who := b.Agent
	if who == "" {
		who = "an agent without a name"
	}
	text := fmt.Sprintf("item %d: %s (%s) asks %s", b.Item, b.Call.ID, b.Call.Name, who)
	if b.Caller != shown {
		text = "in " + rules.Short(b.Caller.ID) + ", " + text
	}
	switch {
	case b.Child == nil:
		return text + "; its session is not known"
	case b.Shared > 1:
		return text + fmt.Sprintf(" in session %s, which %d calls share", rules.Short(b.Child.ID), b.Shared)
	}
	return text + fmt.Sprintf(" in session %s, %s", rules.Short(b.Child.ID), ui.Count(len(b.Child.Items), "item"))
}

// borderLines are what passed a border, but for what no rule would let pass.
func borderLines(b *view.Border) []borderLine {
	goal := borderLine{way: "went in", what: "a task that is not known"}
	if b.Goal != "" {
		goal.what, goal.text = "the goal, "+ui.Bytes(int64(len(b.Goal))), b.Goal
	}
	lines := []borderLine{goal}
	if b.Shared > 1 && len(b.Given) == 0 {
		lines = append(lines, borderLine{what: "nothing tells this call's request from those of the others"})
	}
	for _, i := range b.Given {
		it := &b.Child.Items[i]
		line := borderLine{what: fmt.Sprintf("item %d of the child, %s", i, givenWords(it))}
		if it.Body != nil && it.Body.Text != b.Goal {
			line.text = it.Body.Text
		}
		lines = append(lines, line)
	}
	return append(lines, outcomeLine(b.Out))
}

// crossed are the findings about a border that no border before has told, and how many
// there are in words.
func crossed(b *view.Border, told map[*check.Finding]bool) (fresh []*check.Finding, line borderLine) {
	var again []string
	for _, f := range b.Crossed {
		if told[f] {
			again = append(again, f.Rule.ID)
		} else {
			fresh = append(fresh, f)
		}
		told[f] = true
	}
	var words []string
	if len(fresh) > 0 {
		words = append(words, ui.Count(len(fresh), "finding"))
	}
	if len(again) > 0 {
		words = append(words, "what "+strings.Join(again, ", ")+" tells above")
	}
	if len(words) == 0 {
		words = []string{"nothing that a rule minds"}
	}
	return fresh, borderLine{way: "besides", what: strings.Join(words, ", and ")}
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

func outcomeLine(out *view.Outcome) borderLine {
	if out == nil {
		return borderLine{way: "came out", what: "nothing: the call has no result"}
	}
	words := fmt.Sprintf("item %d, %s", out.Item, ui.Bytes(int64(len(out.Result.Text))))
	for _, state := range []struct {
		is   bool
		word string
	}{
		{out.Answer, "the child's last answer"}, {out.Result.IsError, "an error"},
		{out.Result.Pending, "waiting for approval"}, {out.Result.Synthetic, "a placeholder"},
	} {
		if state.is {
			words += ", " + state.word
		}
	}
	return borderLine{way: "came out", what: words, text: out.Result.Text}
}

// borderCount is the count at the end.
func borderCount(v *view.View) string {
	told := map[*check.Finding]bool{}
	for i := range v.Borders {
		for _, f := range v.Borders[i].Crossed {
			told[f] = true
		}
	}
	return fmt.Sprintf("%s, %s about what crossed besides.", ui.Count(len(v.Borders), "delegation"), ui.Count(len(told), "finding"))
}
