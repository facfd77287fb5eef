package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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
