package claudecode_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/claudecode"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = "../../../../shared/corpus/claude-code"

// verdicts are what is right about each recorded folder, as its README has it, where the
// writer has stopped.
var verdicts = map[string][]string{
	"api-error": {"info SC309 "}, "branch": nil, "child-background": nil, "children-parallel": nil, "children-parallel-2.0.14": nil,
	"children-parallel-background": nil, "fork": nil, "interrupt": nil, "kill-stream": nil, "nested": nil, "plain": nil,
	"resumed": nil, "tools": nil,
	"children-parallel-1.0.60": {"info SC111 toolu_01212ca435T0N1"},
	"compact":                  {"info SC015 "},
	"kill-tool":                {"warning SC101 toolu_019d3c5b05T0N1"},
	"kill-child":               {"info SC101 toolu_014c9ae24cT0N0", "warning SC101 toolu_017d294a97T0N0"},
	"kill-child-2.1.197":       {"info SC101 toolu_014c9ae24cT0N0", "warning SC101 toolu_0168a9c764T0N0"},
	"kill-child-background":    {"info SC101 toolu_01f60bbc36T0N0"},
	"kill-tool-2.0.14":         {"warning SC101 toolu_010eacf654T0N1"},
	"resumed-2.0.14":           {"warning SC101 toolu_010eacf654T0N1"},
	"resumed-2.1.197":          {"warning SC101 toolu_010eacf654T0N1"},
	"resumed-copy-1.0.60":      {"warning SC101 toolu_010eacf654T0N1"},
	"torn-tail":                {"warning SC020 "},
	"torn-result":              {"warning SC020 ", "warning SC101 toolu_011b96e72fT1N0"},

	"damaged-dup-result":     {"warning SC106 toolu_011b96e72fT0N2"},
	"damaged-orphan-result":  {"info SC021 ", "warning SC103 toolu_011b96e72fT0N1"},
	"damaged-phantom-parent": {"info SC021 "},

	"repaired-dup-result-2.1.330": nil, "repaired-orphan-result-2.1.330": nil, "repaired-phantom-2.1.330": nil,
	"repaired-kill-linear-2.1.330": {"info SC015 "},
}

// trees are how many sessions and sub-sessions the folders with several have.
var trees = map[string]string{
	"children-parallel": "1 of 3", "children-parallel-1.0.60": "1 of 3", "children-parallel-2.0.14": "1 of 3",
	"children-parallel-background": "1 of 3", "child-background": "1 of 2", "nested": "1 of 3", "fork": "2 of 2",
	"resumed-2.0.14": "1 of 1", "resumed-copy-1.0.60": "2 of 2", "kill-child": "1 of 2",
}

// recorded is a copy of a folder that Claude Code wrote.
func recorded(t *testing.T, name, folder string) string {
	t.Helper()
	from := filepath.Join(corpus, name)
	if _, err := os.Stat(from); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/claude-code)")
	}
	to := filepath.Join(folder, name)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// openTranscripts opens a store whose writer has stopped.
func openTranscripts(t *testing.T, path string) *registry.Opened {
	t.Helper()
	o, err := registry.Open(context.Background(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	o.Facts().Writer = session.WriterDead
	return o
}

// filled are the trees of a store, with texts.
func filled(t *testing.T, o *registry.Opened) (list []*session.Tree) {
	t.Helper()
	for tree, err := range o.Trees(context.Background()) {
		if err == nil {
			err = o.Fill(context.Background(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tree)
	}
	return list
}

func TestVerdicts(t *testing.T) {
	for name, want := range verdicts {
		t.Run(name, func(t *testing.T) {
			o := openTranscripts(t, recorded(t, name, t.TempDir()))
			list, sessions := filled(t, o), 0
			var found []string
			for _, tree := range list {
				sessions += len(tree.Sessions)
				for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
					found = append(found, fmt.Sprint(f.Severity, " ", f.Rule.ID, " ", f.Call))
				}
			}
			slices.Sort(found)
			if diff := cmp.Diff(want, found); diff != "" {
				t.Error(diff)
			}
			if many := fmt.Sprint(len(list), " of ", sessions); trees[name] != "" && many != trees[name] {
				t.Errorf("%s, want %s", many, trees[name])
			}
		})
	}
	all, _ := filepath.Glob(filepath.Join(corpus, "*", "projects"))
	for _, path := range all {
		if _, told := verdicts[filepath.Base(filepath.Dir(path))]; !told {
			t.Errorf("%s has no verdict", path)
		}
	}
}

// TestOneTranscript reads a file by itself: with its sub-agents, as in its folder.
func TestOneTranscript(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(recorded(t, "nested", t.TempDir()), "projects", "*", "*.jsonl"))
	list := filled(t, openTranscripts(t, files[0]))
	if len(list) != 1 || len(list[0].Sessions) != 3 {
		t.Fatalf("%d trees", len(list))
	}
	root := list[0].Root()
	if len(root.Children) != 1 || len(root.Children[0].Children) != 1 || root.ID != strings.TrimSuffix(filepath.Base(files[0]), ".jsonl") {
		t.Errorf("the sub-agents are not below each other")
	}
}

func TestRecordedConform(t *testing.T) {
	for name := range verdicts {
		storetest.Run(t, claudecode.Kind, storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string { return recorded(t, name, folder) }})
	}
}
