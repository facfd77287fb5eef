// Package budget holds the size of the code against the numbers that one person can
// carry. A number may fall; raising one is a decision, which docs/dev/decisions.md has
// with its reason.
package budget

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What holds for everything.
const (
	productLines = 117_900 // of Go without tests
	supportLines = 9_300   // of what only tests and tools use
	fileLines    = 600
	packageNames = 200 // constants, variables, types and functions of a package
	packageFiles = 60
	storeLines   = 900 // of an adapter that reads, checks and repairs, without its builder
	builderLines = 250 // of a package that writes stores of one kind for tests
	ruleLines    = 150 // of the file of one rule, or of the table of faults
	ruleMean     = 60  // of these files for each rule
)

// What is older and larger has its own number, which only falls.
var (
	ownLines = map[string]int{
		"internal/store/adk":          4_410,
		"internal/store/canonical":    3_197,
		"internal/store/dockeragent":  5_320,
		"internal/store/kagent":       2_994,
		"internal/store/loom":         1_957,
		"internal/store/claudecode":   4_501,
		"internal/store/opencode":     2_137,
		"internal/store/springai":     1_122,
		"internal/store/goose":        1_238,
		"internal/store/crush":        1_058,
		"internal/store/mastra":       1_497,
		"internal/store/copilot":      1_679,
		"internal/store/codex":        1_289,
		"internal/store/openaiagents": 1_064,

		"internal/store/adk/adktest":           1_031,
		"internal/store/dockeragent/agenttest": 2_014,
		"internal/store/kagent/kagenttest":     1_398,
		"internal/store/springai/springtest":   598,
	}
	ownNames = map[string]int{
		"internal/store/dockeragent": 213,
		"cmd":                        213,
	}
	ownRules = map[string]int{
		"faults.go":                            196,
		"sc707_collapsed_parallel_children.go": 166,
		"sc723_unscoped_sub_agent_event.go":    156,
		"sc807_shared_workspace.go":            157,
		"sc810_sibling_isolation.go":           173,
		"sc821_limits.go":                      182,
		"sc831_aggregation.go":                 211,
	}
)

// shared are the folders of internal/store that are no adapters.
var shared = []string{"builder", "change", "column", "docedit", "eventlog", "filelog", "forest", "logstore", "media", "mysql", "outline", "player", "postgres", "registry", "responses", "server", "sqlite", "storetest", "table"}

// supports reports whether only tests and tools use a folder.
func supports(folder string) bool {
	return strings.HasSuffix(folder, "test") || below(folder, "internal/tools") ||
		slices.Contains([]string{"internal/campaign", "internal/store/builder", "internal/store/player"}, folder)
}

// size is how much there is in one folder, without tests.
type size struct{ lines, files, names int }

func TestBudgets(t *testing.T) {
	sizes, rules := map[string]*size{}, map[string]int{}
	product, support, ruled := 0, 0, 0
	for file, source := range sources(t) {
		folder, lines := path.Dir(file), bytes.Count(source, []byte("\n"))
		if sizes[folder] == nil {
			sizes[folder] = &size{}
		}
		s := sizes[folder]
		s.lines, s.files, s.names = s.lines+lines, s.files+1, s.names+names(t, file, source)
		if supports(folder) {
			support += lines
		} else {
			product += lines
		}
		within(t, file, "lines", lines, fileLines)
		if n := bytes.Count(source, []byte("ID: \"SC")); n > 0 && strings.HasPrefix(folder, "internal/rules/") {
			rules[file], ruled = lines, ruled+n
			within(t, file, "lines", lines, or(ownRules[path.Base(file)], ruleLines))
		}
	}
	if len(sizes) < 20 || len(rules) < 20 {
		t.Fatalf("only %d folders and %d rules were found", len(sizes), len(rules))
	}
	within(t, "the product", "lines", product, productLines)
	within(t, "what supports tests", "lines", support, supportLines)
	sum := 0
	for _, lines := range rules {
		sum += lines
	}
	within(t, "the files of rules", "lines for each rule", sum/ruled, ruleMean)
	for folder, s := range sizes {
		within(t, folder, "package-level names", s.names, or(ownNames[folder], packageNames))
		within(t, folder, "files", s.files, packageFiles)
	}
	for _, kind := range children(t, "internal/store") {
		if slices.Contains(shared, path.Base(kind)) {
			continue
		}
		lines := 0
		for folder, s := range sizes {
			if below(folder, kind) && !strings.HasSuffix(folder, "test") {
				lines += s.lines
			}
		}
		within(t, kind, "lines", lines, or(ownLines[kind], storeLines))
	}
	for folder, s := range sizes {
		if strings.HasPrefix(folder, "internal/store/") && strings.Count(folder, "/") == 3 && strings.HasSuffix(folder, "test") {
			within(t, folder, "lines", s.lines, or(ownLines[folder], builderLines))
		}
	}
}

// sources are the Go files of the project without tests, by their paths from its root.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	root := os.DirFS("../..")
	files := map[string][]byte{}
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		files[file], err = fs.ReadFile(root, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// names counts what a file declares on the level of its package.
func names(t *testing.T, file string, source []byte) int {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					n++
				case *ast.ValueSpec:
					n += len(spec.Names)
				}
			}
		}
	}
	return n
}

// children are the folders directly in a folder.
func children(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("../..", folder))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, folder+"/"+e.Name())
		}
	}
	return list
}

func below(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

func or(own, usual int) int {
	if own > 0 {
		return own
	}
	return usual
}

func within(t *testing.T, what, unit string, is, budget int) {
	t.Helper()
	if is > budget {
		t.Errorf("%s: %d %s, and the budget is %d", what, is, unit, budget)
	}
}
