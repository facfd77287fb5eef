package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/treetest"
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
	seen, err := view.Visible(view.Input{Store: v.Store, Tree: tree, Session: v.Shown.ID}, view.Question{All: true})
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
