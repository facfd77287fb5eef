package crush_test

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
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/crush"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = "../../../../shared/corpus/crush"

// verdicts are what is right about each recorded database, as its README has it. SC407 of
// the last message is an info.
var verdicts = map[string][]string{
	"chat": nil, "tools": nil, "agent": nil, "compaction": nil, "cut-stream": nil,
	"agent-two":          {"info SC111 call_d2_0_1"},
	"provider-error":     {"info SC301 "},
	"bad-arguments":      {"error SC205 call_bad_0_0", "warning SC101 call_bad_0_0"},
	"killed-tool":        {"info SC407 ", "warning SC101 call_k_0_0"},
	"killed-second-tool": {"warning SC101 call_kk_0_1", "warning SC407 "},
	"killed-second-turn": {"info SC407 ", "warning SC101 call_q1_1_0"},
	"killed-child":       {"info SC407 ", "info SC407 ", "warning SC101 call_kc_0_0"},
	"killed-stream":      {"info SC407 "},
	"killed-arguments":   {"error SC205 call_ka_0_0", "info SC407 ", "warning SC101 call_ka_0_0"},
	"interrupted":        {"warning SC101 call_kk_0_1", "warning SC407 "},

	"killed-tool-resumed":        {"warning SC101 call_k_0_0", "warning SC407 "},
	"killed-second-tool-resumed": {"warning SC101 call_kk_0_1", "warning SC407 "},
	"killed-second-turn-resumed": {"warning SC101 call_q1_1_0", "warning SC407 "},
	"killed-child-resumed":       {"info SC407 ", "warning SC101 call_kc_0_0", "warning SC407 "},
	"killed-stream-resumed":      {"warning SC407 "},
	"killed-arguments-resumed":   {"error SC205 call_ka_0_0", "warning SC101 call_ka_0_0", "warning SC407 "},
	"interrupted-resumed":        {"warning SC101 call_kk_0_1", "warning SC407 "},

	// Repaired by hand: a result that nobody has answered yet is the last message.
	"killed-tool.repaired": {"warning SC305 "}, "killed-second-tool.repaired": {"warning SC305 "},
	"killed-second-turn.repaired": {"warning SC305 "}, "killed-child.repaired": {"warning SC305 "},
	"killed-arguments.repaired": {"warning SC305 "}, "killed-stream.repaired": nil,
}

// recorded is a copy of a database that Crush wrote.
func recorded(t *testing.T, name, folder string) string {
	t.Helper()
	path := filepath.Join(corpus, name+".db")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/crush)")
	}
	return storetest.Copy(t, path, folder)
}

// findings are those of a store, as severity, rule and call.
func findings(t *testing.T, path string) []string {
	t.Helper()
	o, err := registry.Open(context.Background(), path, "", nil, store.Options{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	add := func(found []*check.Finding) {
		for _, f := range found {
			list = append(list, fmt.Sprint(f.Severity, " ", f.Rule.ID, " ", f.Call))
		}
	}
	for tree, err := range o.Trees(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		add(check.Tree(o.Facts(), tree, catalogue.Usual(), rules.Judge{}))
	}
	for _, f := range o.Facts().Faults {
		list = append(list, "store: "+f.Detail)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func TestVerdicts(t *testing.T) {
	for name, want := range verdicts {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, findings(t, recorded(t, name, t.TempDir()))); diff != "" {
				t.Error(diff)
			}
		})
	}
	all, _ := filepath.Glob(filepath.Join(corpus, "*.db"))
	for _, path := range all {
		if _, told := verdicts[strings.TrimSuffix(filepath.Base(path), ".db")]; !told {
			t.Errorf("%s has no verdict", path)
		}
	}
}

func TestRecordedConform(t *testing.T) {
	for _, name := range []string{"agent-two", "compaction", "killed-child", "provider-error", "tools"} {
		storetest.Run(t, crush.Kind, storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string { return recorded(t, name, folder) }})
	}
}
