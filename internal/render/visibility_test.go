package render_test

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/view"
)

// shared is a session of several agents, "author branch text" a line, and what is
// asked of it.
type shared struct {
	name   string
	events string
	q      view.Question
}

func label(text string) *string { return &text }

const news = `
user||What is new?
orch|orch|I ask the others.
researcher|orch.researcher|I found three things.\nThey are long.
writer|orch.writer|A draft.
summarizer|orch.researcher.summarizer|In short.`

const groups = `
user||go
a|p1.a|A says
b|p1.b|B says
d|p2.d|D says
e|p2.e|E says
r||R says`

const odd = `
user||end; of # it
a|p.\u001b[31m|x | y <b> @here
b\u202e|p.%_\\\\|two\nlines
Agent mit einem sehr langen Namen|p.eins.zwei.drei.vier.fuenf.sechs.sieben.acht.neun.zehn|end
漢字|p.漢字漢字漢字漢字漢字漢字漢字|漢字漢字漢字`

var sharedCases = []shared{
	{"visible-one", news, view.Question{Branch: label("orch.researcher")}},
	{"visible-all", news, view.Question{All: true}},
	{"visible-tokens", groups, view.Question{Tokens: true}},
	{"visible-sets", groups, view.Question{All: true, Model: "tokens"}},
	{"visible-diff", groups, view.Question{Agent: "d", Diff: []string{"path", "tokens"}}},
	{"visible-diff-all", groups, view.Question{Diff: []string{"path", "tokens"}}},
	{"visible-prefix", "user||x\na|p.a1|x\nb|p.a10|x", view.Question{Agent: "b", Model: "raw-prefix"}},
	{"visible-odd", odd, view.Question{All: true}},
	{"visible-odd-one", odd, view.Question{Agent: "漢字"}},
}

// many are agents side by side.
func many(n int) string {
	text := "user||go\n"
	for i := range n {
		text += fmt.Sprintf("a%d|p.a%d|I say %d\n", i, i, i)
	}
	return text
}

func (c *shared) view(t *testing.T) *view.View {
	t.Helper()
	text := `{"type":"header","format":"sessctl.canonical/1","kind":"my-runtime","branch_model":"path","writer":"dead"}
{"type":"session","id":"S","title":"Shared","agent":"orch"}
`
	for line := range strings.Lines(strings.TrimSpace(c.events)) {
		part := strings.SplitN(strings.TrimSpace(line), "|", 3)
		role := "assistant"
		if part[0] == "user" {
			role = "user"
		}
		text += fmt.Sprintf(`{"type":"item","session":"S","kind":"message","role":"%s","agent":"%s","branch":"%s","invocation":"e-1","text":"%s"}`+"\n", role, part[0], part[1], part[2])
	}
	return viewOf(t, text, c.q)
}

// viewOf is what a canonical stream with one session S answers to a question.
func viewOf(t *testing.T, text string, q view.Question) *view.View {
	t.Helper()
	st, err := canonical.Kind.Open(t.Context(), &store.Source{Path: "shared.ndjson", Stream: strings.NewReader(text)}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	in := view.Input{Store: st.Facts(), Session: "S"}
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		in.Tree = tree
	}
	v, err := view.BuildVisibility(in, q)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestViewOfWhatIsVisible(t *testing.T) {
	forms := []struct {
		suffix, format string
		width          int
		full           bool
	}{
		{".80.txt", "text", 80, false},
		{".120.txt", "text", 120, false},
		{".full.txt", "text", 80, true},
		{".md", "markdown", 80, false},
		{".json", "json", 80, true},
		{".mmd", "mermaid", 80, false},
	}
	for _, c := range sharedCases {
		t.Run(c.name, func(t *testing.T) {
			v := c.view(t)
			for _, form := range forms {
				if form.format == "mermaid" && len(c.q.Diff) > 0 {
					continue
				}
				got := printed(t, form.format, v, form.width, form.full)
				golden(t, c.name+form.suffix, got)
				if form.format == "text" {
					fits(t, got, form.width)
				}
				safe(t, got)
			}
			fits(t, printed(t, "text", v, narrow, false), narrow)
		})
	}
}

func TestEveryBlockOfAMatrixHasAllEvents(t *testing.T) {
	c := shared{events: many(50), q: view.Question{All: true}}
	text := printed(t, "text", c.view(t), 60, false)
	heads, rows := 0, 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, "author") {
			heads++
		}
		if strings.Contains(line, " p.a7 ") && !strings.Contains(line, "of") {
			rows++
		}
	}
	if heads < 2 || rows != heads {
		t.Errorf("%d blocks, and event 8 in %d of them:\n%s", heads, rows, text)
	}
	for line := range strings.Lines(text) {
		if w := lipgloss.Width(strings.TrimSuffix(line, "\n")); w > 60 {
			t.Errorf("a line has %d columns: %s", w, line)
		}
	}
}

// Of many viewers every form names what each one sees, so that it grows with that, and
// those that see the same share a row.
func TestManyViewersNameWhatTheySee(t *testing.T) {
	count := func(t *testing.T, text, part string, want int) {
		t.Helper()
		if got := strings.Count(text, part); got != want {
			t.Errorf("%d times %q, want %d:\n%s", got, part, want, text)
		}
	}
	c := shared{events: many(60) + "user||and now?\nb|p.a7|I am on branch a7, too\n", q: view.Question{All: true}}
	v := c.view(t)
	for _, format := range []string{"text", "markdown"} {
		text := printed(t, format, v, 80, false)
		count(t, text, "Every viewer sees: 0, 61\n", 1)
		count(t, text, "4 of 63", 1)
		count(t, text, "3 of 63", 59)
		count(t, text, "8, 62", 1) // of both agents on p.a7
		count(t, text, "p.a7, p.a7 (b)", 1)
	}
	text := printed(t, "json", v, 80, false)
	count(t, text, `"visible"`, 0)
	count(t, text, `"sees": "0,8,61-62"`, 2)
	count(t, text, `"sees": "0-1,61"`, 1)
	count(t, text, `"sees": `, 61)

	c.q = view.Question{Diff: []string{"path", "tokens"}}
	v = c.view(t)
	text = printed(t, "json", v, 80, false)
	count(t, text, `"visible"`, 0)
	for i := range v.Visibility.Viewers {
		for m, model := range v.Visibility.Models {
			runs := v.Visibility.RunsWhere(i, func(e *view.Event) bool { return v.Visibility.Cell(e, i, m).Visible })
			if want := fmt.Sprintf("%q: %q", model.Name, view.RunWords(runs, "-", ",")); !strings.Contains(text, want) {
				t.Errorf("no %s", want)
			}
		}
	}
	count(t, printed(t, "text", v, 80, false), "only tokens", 1)
}

func TestReasonsThatAreOneAreToldOnce(t *testing.T) {
	c := shared{events: "user||x\na|p.a1|x\nb|p.a10|x", q: view.Question{Agent: "b", Diff: []string{"path", "raw-prefix"}}}
	for _, models := range [][]string{{"path", "raw-prefix"}, {"raw-prefix", "path"}} {
		c.q.Diff = models
		text := printed(t, "text", c.view(t), 80, false)
		if !strings.Contains(text, "  sibling branch, but its text is a prefix\n") {
			t.Errorf("%v:\n%s", models, text)
		}
	}
}

// Long runs, agents, branches and sets leave room for what was seen.
func TestWhoHeldWhatFits(t *testing.T) {
	const many = `{"type":"header","format":"sessctl.canonical/1","branch_model":"path"}
{"type":"session","id":"S"}
{"type":"item","session":"S","kind":"message","role":"assistant","agent":"researcher_of_papers","branch":"par.researcher_of_papers","invocation":"e-09a3408e-6c31-4601-9795-6e7a3e667c7a","text":"x"}
{"type":"item","session":"S","kind":"message","role":"assistant","agent":"writer_of_summaries","branch":"par2.writer_of_summaries","invocation":"e-09a3408e-6c31-4601-9795-6e7a3e667c7a","text":"x"}
{"type":"item","session":"S","kind":"message","role":"assistant","agent":"writer_of_summaries","branch":"par2.writer_of_summaries","invocation":"e-1abf3003-2853-438d-8385-9920ac356389","text":"x"}
`
	text := printed(t, "text", viewOf(t, many, view.Question{Tokens: true}), 80, false)
	fits(t, text, 80)
}

// A branch that is an object cannot be the key of one: the viewer names its key.
func TestViewersWithObjectsForBranchesHaveKeys(t *testing.T) {
	const sets = `{"type":"header","format":"sessctl.canonical/1"}
{"type":"session","id":"S"}
{"type":"item","session":"S","kind":"message","role":"assistant","agent":"a","branch":{"tokens":[1]},"text":"x"}
{"type":"item","session":"S","kind":"message","role":"assistant","agent":"b","branch":{"tokens":[2]},"text":"x"}
`
	text := printed(t, "json", viewOf(t, sets, view.Question{All: true}), 80, false)
	if !strings.Contains(text, `"key": "{\"tokens\":[1]}"`) {
		t.Errorf("no key:\n%s", text)
	}
}

// A name that Mermaid would find empty, or that fills the whole diagram.
func TestEveryParticipantHasANameThatFits(t *testing.T) {
	c := shared{events: "user||x\na| |x\nb|p." + strings.Repeat("long.", 200) + "b|x", q: view.Question{All: true}}
	text := printed(t, "mermaid", c.view(t), 80, false)
	for line := range strings.Lines(text) {
		_, name, isParticipant := strings.Cut(line, " as ")
		if isParticipant && (strings.TrimSpace(name) == "" || lipgloss.Width(name) > 80) {
			t.Errorf("the name of a participant: %q", line)
		}
	}
	if !strings.Contains(text, "…") || !strings.Contains(text, "long.b\n") {
		t.Errorf("the end of a long path is not shown:\n%s", text)
	}
}

func TestWhatMermaidWouldReadIsEscaped(t *testing.T) {
	c := shared{events: odd, q: view.Question{All: true}}
	text := printed(t, "mermaid", c.view(t), 80, false)
	for line := range strings.Lines(text) {
		_, label, isArrow := strings.Cut(line, ": ")
		if isArrow && strings.ContainsAny(strings.ReplaceAll(label, "#", ""), "<>|@%{}[]:") {
			t.Errorf("not escaped: %s", line)
		}
		for word := range strings.FieldsSeq(label) {
			if word == "end" {
				t.Errorf("the word that ends a block: %s", line)
			}
		}
	}
	if !strings.HasPrefix(text, "sequenceDiagram\n") {
		t.Errorf("no diagram:\n%s", text)
	}
}
