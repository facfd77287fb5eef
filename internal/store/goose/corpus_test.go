package goose_test

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
	"github.com/sessctl/sessctl/internal/store/goose"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = "../../../../shared/corpus/goose"

// verdicts are what is right about each recorded database, as its README has it: those
// that are not here are clean.
var verdicts = map[string][]string{
	"killed-child":         {"info SC705 "},
	"killed-child-resumed": {"warning SC705 "},
	"duplicate-result":     {"warning SC106 call_t1_0_0"},
	"half-hidden-pair":     {"warning SC725 call_big_0_0"},
}

// names are those of the recorded databases.
func names(t *testing.T) (list []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(corpus, "*.db"))
	if err != nil || len(all) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/goose)")
	}
	for _, path := range all {
		list = append(list, strings.TrimSuffix(filepath.Base(path), ".db"))
	}
	return list
}

// recorded is a copy of a database that goose wrote.
func recorded(t *testing.T, name, folder string) string {
	t.Helper()
	path := filepath.Join(corpus, name+".db")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/goose)")
	}
	return storetest.Copy(t, path, folder)
}

// findings are those of a store, as severity, rule and call.
func findings(t storetest.Tester, path string) []string {
	t.Helper()
	o, err := registry.Open(context.Background(), path, "", nil, store.Options{Deep: true})
	if err != nil {
		t.Fatalf("%v", err)
	}
	var list []string
	for tree, err := range o.Trees(context.Background()) {
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, f := range check.Tree(o.Facts(), tree, catalogue.Usual(), rules.Judge{}) {
			list = append(list, fmt.Sprint(f.Severity, " ", f.Rule.ID, " ", f.Call))
		}
	}
	for _, f := range o.Facts().Faults {
		list = append(list, "store: "+f.Detail)
	}
	if err := o.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	slices.Sort(list)
	return list
}

func TestVerdicts(t *testing.T) {
	all := names(t)
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(verdicts[name], findings(t, recorded(t, name, t.TempDir()))); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name := range verdicts {
		if !slices.Contains(all, name) {
			t.Errorf("%s is not recorded", name)
		}
	}
}

func TestRecordedConform(t *testing.T) {
	for _, name := range []string{"delegate-two", "delegate-async", "compaction", "killed-child", "fork", "tools"} {
		storetest.Run(t, goose.Kind, storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string { return recorded(t, name, folder) }})
	}
}
