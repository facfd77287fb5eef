package render_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/changes"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// page is the view of a case as `sessctl view --format html` prints it.
func (c *viewCase) page(t *testing.T) string {
	t.Helper()
	tree := treetest.Tree(t, c.tree)
	if c.edit != nil {
		c.edit(tree)
	}
	v := c.build(t, tree, whole)
	seen, err := view.BuildVisibility(view.Input{Store: v.Store, Tree: tree, Session: v.Shown.ID}, view.Question{All: true})
	if err == nil {
		v.Visibility = seen.Visibility
	}
	return printed(t, "html", v, 80, false)
}

// embedded are the style and the script of a page, and what its policy calls them by.
var embedded = regexp.MustCompile(`(?s)<(style|script)>.*?</(?:style|script)>|sha256-[A-Za-z0-9+/=]+`)

func TestPages(t *testing.T) {
	inUTC(t)
	for _, c := range viewCases {
		if !slices.Contains([]string{"nested", "leak_with_twin", "two_transfers", "hostile_text", "empty", "gemini"}, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			page := embedded.ReplaceAllString(c.page(t), "")
			golden(t, c.name+".html", page)
			safe(t, page)
		})
	}
}

// TestThePageOfACheck has nothing of what was said, nor the titles of sessions, unless that is
// wanted.
func TestThePageOfACheck(t *testing.T) {
	out, _ := someStores().print(t, "html")
	page := embedded.ReplaceAllString(out, "")
	goldenIn(t, "check", "stores.html", page)
	safe(t, page)
	if strings.Contains(page, "Review a|b") {
		t.Error("the page has the title of a session")
	}
	c := someStores()
	c.content = true
	if out, _ := c.print(t, "html"); !strings.Contains(out, "Review a|b &lt;i&gt;now&lt;/i&gt; ]]&gt; &amp; more") {
		t.Error("with content, the page lacks the title of a session")
	}
}

// planPage is the page of a plan that repairs leaks, for a store of random sessions.
func planPage(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(6) {
		if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := registry.Open(t.Context(), path, "", nil, store.Options{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	opened.Facts().Path, opened.Facts().Writer = "session.db", session.WriterDead
	var out bytes.Buffer
	writer := changes.NewRepairWriter("html", render.RepairOptions{Screen: ui.NewScreen(&out, ui.ColorNever, os.Getenv), Content: true})
	page, ok := writer.(interface {
		Tree(plan *repair.Tree, was, will *session.Tree)
	})
	if !ok {
		t.Fatal("the writer of pages shows no trees")
	}
	plan, result, err := repair.MakePlan(t.Context(), opened.Store, repair.Options{Prologue: opened.Kind.Prologue, EachTree: page.Tree})
	if err := errors.Join(err, writer.Plan(plan, opened.Facts(), result.Findings), writer.Close(render.Outcome{}), opened.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestThePageOfAPlan has the sessions that change before and after, and what becomes of them.
func TestThePageOfAPlan(t *testing.T) {
	page := planPage(t)
	safe(t, page)
	for _, part := range []string{"before and after", "<th scope=\"col\">Before</th>", "Ledger", "messages after"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

// TestAPageSaysWhatItLeavesOut of more findings than it has room for.
func TestAPageSaysWhatItLeavesOut(t *testing.T) {
	c := manyFindings(10000)
	r := c.results[0].(*check.Result)
	r.Findings = append(r.Findings, r.Findings[:50]...)
	c.max = 0
	out, _ := c.print(t, "html")
	if got := strings.Count(out, "<article"); got != 10000 {
		t.Errorf("the page has %d findings", got)
	}
	if want := "Not on this page: 50 more findings. <code>sessctl check many.db --format ndjson</code> shows it."; !strings.Contains(out, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// TestPagesAreValid asks html-validate, which is no part of the repository. Titles are as long as
// those of sessions.
func TestPagesAreValid(t *testing.T) {
	program := filepath.Join("..", "..", "bin", "schemas", "html-validate", "node_modules", "html-validate", "bin", "html-validate.mjs")
	if _, err := os.Stat(program); err != nil {
		notValidated(t, "there is no bin/schemas/html-validate; `make schemas` fetches it")
	}
	folder := t.TempDir()
	for name, page := range pages(t) {
		if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".html"), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.Command("node", program, "--rule", "long-title:off", folder).CombinedOutput(); err != nil {
		t.Errorf("%v\n%.4000s", err, said)
	}
}
