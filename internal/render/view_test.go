package render_test

import (
	"bytes"
	"context"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render/views"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

var update = flag.Bool("update", false, "write the golden files")

// memory is a store that holds one tree.
type memory struct {
	facts session.Store
	tree  *session.Tree
}

func (m *memory) Facts() *session.Store                     { return &m.facts }
func (m *memory) Fill(context.Context, *session.Tree) error { return nil }
func (m *memory) Close() error                              { return nil }
func (m *memory) Trees(context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) { yield(m.tree, nil) }
}

// build makes the view of a case.
func (c *viewCase) build(t *testing.T, tree *session.Tree, what shown) *view.View {
	t.Helper()
	st := &memory{session.Store{
		Path: "session.db", Kind: "docker-agent", Title: "docker agent", Writer: c.writer,
		Children: session.Children{ChildrenClosed: !c.other},
	}, tree}
	if !c.other {
		st.facts.Runtime = dockeragent.Runtime
		st.facts.Adapts = map[string]string{"SC401": "leaves blank messages out"}
	}
	for _, s := range tree.Sessions {
		s.Model = "claude-opus-4-1"
	}
	var judge rules.Judge
	if c.profile != "" {
		judge.Profiles = []*rules.Profile{rules.FindProfile(c.profile)}
	}
	result, err := check.Run(t.Context(), st, check.Options{Rules: catalogue.UsualRules(), Judge: judge, Session: tree.Root().ID})
	if err != nil {
		t.Fatal(err)
	}
	id := tree.Root().ID
	if c.session != "" {
		id = c.session
	}
	return view.BuildView(view.Input{Store: &st.facts, Tree: tree, Findings: result.Findings, Session: id, Request: what == request || what == whole, Lanes: what == lanes || what == whole, Judge: judge})
}

// printed is a view in a format, without colour.
func printed(t *testing.T, format string, v *view.View, width int, full bool) string {
	t.Helper()
	var out bytes.Buffer
	screen := ui.NewScreen(&out, ui.ColorNever, func(name string) string {
		return map[string]string{"COLUMNS": strconv.Itoa(width)}[name]
	})
	if err := views.PrintView(format, v, views.Options{Screen: screen, Full: full}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenIn(t, "view", name, got)
}

func goldenIn(t *testing.T, folder, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", folder, name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// narrow is a width at which everything still has its place.
const narrow = 60

// forms are the golden files of a case.
var forms = []struct {
	suffix string
	format string
	width  int
	full   bool
	what   shown
}{
	{".80.txt", "text", 80, false, items},
	{".120.txt", "text", 120, false, items},
	{".full.txt", "text", 80, true, items},
	{".lanes.txt", "text", 80, false, lanes},
	{".request.txt", "text", 80, false, request},
	{".md", "markdown", 80, false, items},
	{".full.md", "markdown", 80, true, request},
	{".json", "json", 80, true, request},
}

// shown is what a view shows of a session.
type shown uint8

const (
	items shown = iota
	lanes
	request
	whole // all of it, as a page has it
)

// inUTC lets days be those of UTC.
func inUTC(t *testing.T) {
	t.Helper()
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
}

func TestView(t *testing.T) {
	inUTC(t)
	for _, c := range viewCases {
		t.Run(c.name, func(t *testing.T) {
			tree := treetest.Tree(t, c.tree)
			if c.edit != nil {
				c.edit(tree)
			}
			for _, form := range forms {
				got := printed(t, form.format, c.build(t, tree, form.what), form.width, form.full)
				golden(t, c.name+form.suffix, got)
				if form.format == "text" {
					fits(t, got, form.width)
				}
				safe(t, got)
			}
			for _, what := range []shown{items, lanes, request} {
				fits(t, printed(t, "text", c.build(t, tree, what), narrow, true), narrow)
			}
		})
	}
}

// fits checks that no line is wider than the screen, but for a single word,
// which stays whole so that it can be copied.
func fits(t *testing.T, text string, width int) {
	t.Helper()
	for l := range strings.Lines(text) {
		if w := lipgloss.Width(strings.TrimSuffix(l, "\n")); w > width && strings.Contains(strings.TrimSpace(l), " ") {
			t.Errorf("a line has %d columns of %d: %s", w, width, l)
		}
	}
}

// safe checks that nothing in the output can drive a terminal.
func safe(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("the output holds the character %U at %d", r, i)
		}
	}
}

// pieces counts what is written to it at a time, and whether that ends with a line.
type pieces struct {
	bytes.Buffer
	count int
	torn  bool
}

func (p *pieces) Write(b []byte) (int, error) {
	p.count++
	p.torn = p.torn || len(b) > 0 && b[len(b)-1] != '\n'
	return p.Buffer.Write(b)
}

func TestALongSessionIsPrintedInPieces(t *testing.T) {
	const many = 2000
	v := (&viewCase{}).build(t, treetest.Tree(t, "P"+strings.Repeat("\n  user\n  root \"done\"", many/2)), items)
	var out pieces
	screen := ui.NewScreen(&out, ui.ColorAlways, func(string) string { return "" })
	if err := views.PrintView("text", v, views.Options{Screen: screen}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines < many || out.count < 2 || out.torn {
		t.Errorf("%d lines in %d pieces, torn: %v", lines, out.count, out.torn)
	}
}
