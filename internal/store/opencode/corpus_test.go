package opencode_test

import (
	"bytes"
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
	"github.com/sessctl/sessctl/internal/store/opencode"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = "../../../../shared/corpus/opencode"

// verdicts are what is right about each recorded database, as its README has it.
var verdicts = map[string][]string{
	"cut-stream":     {"info SC301 "}, // asked again, after half an answer
	"provider-error": {"info SC301 "},

	"killed-tool": {"info SC407 ", "warning SC101 call_kb_0_0"}, "killed-tool-wal": {"info SC407 ", "warning SC101 call_kb_0_0"},
	"killed-second-tool":   {"warning SC101 call_k2_0_1", "warning SC407 "},
	"killed-child":         {"info SC407 ", "info SC407 ", "warning SC101 call_kc_0_0", "warning SC101 call_kcc_0_0"},
	"killed-nested":        {"info SC407 ", "info SC407 ", "info SC407 ", "warning SC101 call_kn1_0_0", "warning SC101 call_kn2_0_0", "warning SC101 call_kn_0_0"},
	"killed-stream":        {"error SC401 ", "info SC407 "},
	"killed-arguments":     {"info SC407 ", "warning SC101 call_ka_0_0", "warning SC402 "},
	"killed-before-answer": {"info SC407 "},
	"killed-permission":    {"info SC407 ", "warning SC101 call_kq_0_0"},

	"killed-tool-resumed":          {"warning SC101 call_kb_0_0", "warning SC407 "},
	"killed-second-tool-resumed":   {"warning SC101 call_k2_0_1", "warning SC407 "},
	"killed-child-resumed":         {"info SC407 ", "warning SC101 call_kc_0_0", "warning SC101 call_kcc_0_0", "warning SC407 "},
	"killed-nested-resumed":        {"info SC407 ", "info SC407 ", "warning SC101 call_kn1_0_0", "warning SC101 call_kn2_0_0", "warning SC101 call_kn_0_0", "warning SC407 "},
	"killed-stream-resumed":        {"error SC401 ", "info SC407 "},
	"killed-arguments-resumed":     {"warning SC101 call_ka_0_0", "warning SC402 ", "warning SC407 "},
	"killed-before-answer-resumed": {"info SC301 ", "info SC407 "},
	"killed-permission-resumed":    {"warning SC101 call_kq_0_0", "warning SC407 "},

	"v2-killed-tool":           {"warning SC101 call_kt_0_1", "warning SC407 "},
	"v2-killed-stream":         {"info SC407 "},
	"v2-killed-stream-resumed": {"info SC301 "},
	"v2-killed-arguments":      {"info SC407 ", "warning SC101 call_ka_0_0"},
}

// recorded is a copy of a database that opencode wrote.
func recorded(t *testing.T, name, folder string) string {
	t.Helper()
	path := filepath.Join(corpus, name+".db")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/opencode)")
	}
	return storetest.Copy(t, path, folder)
}

// findings are those of a store, as severity, rule and call.
func findings(t *testing.T, path string) []string {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for tree, err := range o.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range check.Tree(o.Facts(), tree, catalogue.Usual(), rules.Judge{}) {
			list = append(list, fmt.Sprint(f.Severity, " ", f.Rule.ID, " ", f.Call))
		}
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
	all, _ := filepath.Glob(filepath.Join(corpus, "*.db"))
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".db")
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(verdicts[name], findings(t, recorded(t, name, t.TempDir()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRecordedConform(t *testing.T) {
	for _, name := range []string{"chat", "compaction", "killed-child", "revert-pending", "task-parallel", "tools", "v2-killed-tool"} {
		storetest.Run(t, opencode.Kind, storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string { return recorded(t, name, folder) }})
	}
}

// TestNoHeaders: what a provider answered is stored with its headers, and is never shown.
func TestNoHeaders(t *testing.T) {
	path := recorded(t, "provider-error", t.TempDir())
	if n := values(t, path, "select count(*) from message where data like '%responseHeaders%'"); n[0] == "0" {
		t.Fatal("the database has no headers")
	}
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	for tree, err := range o.Trees(t.Context()) {
		if err == nil {
			err = o.Fill(t.Context(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range tree.Root().Items {
			if bytes.Contains(it.Body.Raw, []byte("responseHeaders")) || bytes.Contains(it.Body.Raw, []byte("responseBody")) || !bytes.Contains(it.Body.Raw, []byte(it.Key)) {
				t.Errorf("%s", it.Body.Raw)
			}
		}
	}
}
