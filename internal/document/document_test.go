package document_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

// everything has a block of each type. Its texts are what said is.
func everything(said string) document.Document {
	words := document.Text{{Text: "plain "}, {Role: document.Code, Text: said}, {Text: " "}, {Role: document.Bad, Text: said}}
	return document.Document{
		document.Heading{Level: 1, Text: document.Words(said)},
		document.Heading{Level: 2, ID: "abcdef", Short: "abc", Text: document.Words(said)},
		document.Facts{words, words},
		document.Callout{Role: document.Bad, Text: words},
		document.Viewers{said, "b"},
		document.Fold{Title: words, Below: []document.Block{document.Paragraph(words)}},
		document.Gap{},
		document.Paragraph(words),
		document.Line(words),
		document.Quotation(words),
		document.List{
			{Label: "went in", Text: document.Words("the goal"), Said: said},
			{Label: "went in", Text: document.Words("item 2"), Said: said, Whole: true, Below: []document.Block{document.List{{Text: words}}}},
			{Label: "out", Text: words, More: words, At: "m0-1", Role: document.Bad, Seen: []document.Seen{{Visible: true, Why: said}, {Why: said}}},
			{Text: words, Fold: true, Below: []document.Block{document.Source{What: said, Text: said}}},
		},
		document.Table{
			Columns: []document.Column{{Name: "ID"}, {Name: "WHAT", Give: document.Cut}, {Name: "COUNT", Right: true}},
			Rows:    [][]document.Text{{document.Words("1"), words, document.Words("12")}},
		},
		document.Finding{
			Severity: document.Span{Role: document.Bad, Text: "error"}, Rule: "SC701", Name: "leak-duplicate", Place: "P:1-2",
			Message: words, Consequences: []document.Text{words}, Known: true, At: "m0-1", URL: "https://example.org/SC701.md",
		},
		document.Changes{
			{Kind: document.Gone, Place: "P:1", What: document.Quote{Who: "worker", Said: said, Bare: "message", More: " + shell"}, Note: "same as C:1"},
			{Kind: document.Moved, Place: "P:22", What: document.Quote{Who: "user", Bare: "message"}, Below: []document.Block{document.Source{What: "text", Text: said}}},
		},
		document.Commands{Lead: "Next:", List: []document.Command{{Line: "sessctl check", Why: "look"}}},
		document.Diagram{
			{Kind: document.Enter, From: "p0", Lines: []string{said}}, {Kind: document.Send, From: "p0", To: "p0", Lines: []string{said}},
			{Kind: document.Enter, From: "p1", Lines: []string{"worker"}}, {Kind: document.Open, From: "p0", To: "p1", Lines: []string{said}},
			{Kind: document.Lost, From: "p0", To: "p1", Lines: []string{said}, Place: "1", At: "m0-1", Role: document.Bad}, {Kind: document.Close, From: "p1", To: "p0", Lines: []string{said}},
			{Kind: document.Note, From: "p0", Lines: []string{said, said}}, {Kind: document.Release, From: "p0"},
		},
	}
}

func printed(t *testing.T, format string, width int, docs ...document.Document) string {
	t.Helper()
	var out bytes.Buffer
	screen := ui.NewScreen(&out, ui.ColorNever, func(name string) string {
		return map[string]string{"COLUMNS": fmt.Sprint(width)}[name]
	})
	print := document.NewPrinter(format, screen)
	for _, doc := range docs {
		if err := print(doc); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestEveryBlockHasAForm(t *testing.T) {
	for format, want := range map[string]string{
		"text": `abc  a_b
  plain a_b a_b
  plain a_b a_b
plain a_b a_b
plain a_b a_b
  plain a_b a_b

plain a_b a_b
plain a_b a_b
    plain a_b a_b
went in  the goal: a_b
         item 2:
         a_b
         plain a_b a_b
out      plain a_b a_b
         plain a_b a_b
         plain a_b a_b
         a_b
           a_b
ID  WHAT           COUNT
1   plain a_b a_b     12
  error SC701 leak-duplicate  P:1-2
    plain a_b a_b
    → plain a_b a_b
    (known: already in the baseline)
    − P:1   worker: "a_b" + shell  same as C:1
    → P:22  user message
        text
          a_b
Next:
  sessctl check  look
`,
		"markdown": "# a\\_b\n\n## a\\_b\n\n`abcdef`\n\nplain `a_b` a\\_b; plain `a_b` a\\_b\n\n" + strings.Repeat("plain `a_b` a\\_b\n\n", 5) + "> plain `a_b` a\\_b\n\n" +
			"- **went in** the goal: a\\_b\n- **went in** item 2\n\n  ```text\n  a_b\n  ```\n\n  - plain `a_b` a\\_b\n- **out** plain `a_b` a\\_b, plain `a_b` a\\_b\n- plain `a_b` a\\_b\n  - a\\_b\n\n    ```text\n    a_b\n    ```\n\n\n" +
			"| ID | WHAT | COUNT |\n|---|---|--:|\n| 1 | plain `a_b` a\\_b | 12 |\n\n" +
			"- error **SC701** leak-duplicate `P:1-2` plain `a_b` a\\_b\n  - plain `a_b` a\\_b\n" +
			"- **gone** `P:1` worker: \"a\\_b\" + shell, same as C:1\n- **moved** `P:22` user message\n  - text\n\n    ```text\n    a_b\n    ```\n\n\n" +
			"```mermaid\nsequenceDiagram\n    participant p0 as a_b\n    p0->>p0: a_b\n    participant p1 as worker\n    p0->>+p1: a_b\n    p0--xp1: a_b\n    p1-->>-p0: a_b\n    Note over p0: a_b<br/>a_b\n    deactivate p0\n```\n",
		"mermaid": "sequenceDiagram\n    participant p0 as a_b\n    p0->>p0: a_b\n    participant p1 as worker\n    p0->>+p1: a_b\n    p0--xp1: a_b\n    p1-->>-p0: a_b\n    Note over p0: a_b<br/>a_b\n    deactivate p0\n",
	} {
		if diff := cmp.Diff(want, printed(t, format, 80, everything("a_b"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	kinds := map[reflect.Type]bool{}
	for _, b := range everything("") {
		kinds[reflect.TypeOf(b)] = true
	}
	if len(kinds) != 15 {
		t.Errorf("%d types of blocks are looked at here", len(kinds))
	}
}

// Parts that are printed one after the other are one document.
func TestADocumentMayComeInParts(t *testing.T) {
	whole := everything("x")
	for _, format := range []string{"text", "markdown", "mermaid"} {
		var parts []document.Document
		for _, b := range whole {
			parts = append(parts, document.Document{b})
		}
		if diff := cmp.Diff(printed(t, format, 80, whole), printed(t, format, 80, parts...)); diff != "" {
			t.Errorf("%s (-whole +parts):\n%s", format, diff)
		}
	}
}

// Whatever a store holds: it drives no terminal, ends no line, cell or code block, and fits
// the screen but for single words.
func TestAnyTextKeepsItsPlace(t *testing.T) {
	lines := map[string]int{}
	for _, format := range []string{"text", "mermaid"} {
		lines[format] = strings.Count(printed(t, format, 80, everything("x")), "\n")
	}
	rapid.Check(t, func(r *rapid.T) {
		said := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"\x1b[31m\u202e", "|", "```", "``` ```` `", "a\n# b\n- c", "<script>", "end", "\xff", "@user #1 :tada:", "\u2028x"}),
		).Draw(r, "said")
		for _, format := range []string{"text", "markdown", "mermaid"} {
			text := printed(t, format, 80, everything(said))
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && ui.IsUnsafe(c) }) {
				r.Fatalf("%s of %q is not safe: %q", format, said, text)
			}
			for line := range strings.Lines(text) {
				if cells := strings.Count(strings.NewReplacer(`\\`, "", `\|`, "").Replace(line), "|"); format == "markdown" && strings.HasPrefix(line, "| 1") && cells != 4 {
					r.Fatalf("%d bars in %q", cells, line)
				}
			}
			if format == "mermaid" && strings.Count(text, "\n") != lines[format] {
				r.Fatalf("another number of lines of %q: %s", said, text)
			}
		}
	})
}

func TestALineEndsWithTheScreen(t *testing.T) {
	long := strings.Repeat("漢字 word ", 100)
	for _, width := range []int{40, 80, 120} {
		doc := slices.DeleteFunc(everything(long), func(b document.Block) bool {
			_, whole := b.(document.Line)
			return whole
		})
		for line := range strings.Lines(printed(t, "text", width, doc)) {
			if got := lipgloss.Width(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("a line of %d columns on a screen of %d: %.200s", got, width, line)
			}
		}
	}
}

func TestAReferenceOfGitHubIsText(t *testing.T) {
	for in, want := range map[string]string{"see GH-26": `see GH-<!-- -->26`, "gh-1": "gh-<!-- -->1", "GH-x a-1": "GH-x a-1"} {
		if got := printed(t, "markdown", 80, document.Document{document.Paragraph(document.Words(in))}); got != want+"\n" {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A new form is to cost no more than these: docs/dev/architecture.md, Documents.
func TestAPrinterIsSmall(t *testing.T) {
	const most = 250
	for _, file := range []string{"text.go", "markdown.go", "mermaid.go", "html.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(source, []byte("\n")); lines > most {
			t.Errorf("%s has %d lines, more than %d", file, lines, most)
		}
	}
}
