package errtext_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// TestTheAnswerToAFindingLeadsBackToItsRule: what check tells of each damaged store as
// the provider's answer names the rule that found it, and the provider.
func TestTheAnswerToAFindingLeadsBackToItsRule(t *testing.T) {
	files, err := filepath.Glob("../../testdata/damaged/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatal("no damaged stores", err)
	}
	recorded, _ := filepath.Glob("../../../shared/corpus/docker-agent/leaky/*.db")
	told := map[string]bool{}
	for _, path := range slices.Concat(files, copies(t, recorded)) {
		for _, asIs := range []bool{false, true} {
			for _, f := range findings(t, path, rules.Judge{Profiles: rules.Profiles, AsIs: asIs}) {
				for _, j := range f.Judged {
					if j.Error == "" {
						continue
					}
					told[f.Rule.ID] = true
					e := errtext.ParseAnswer(j.Error)
					if !slices.Contains(e.Rules, f.Rule.ID) || !slices.Contains(e.Profiles, j.Profile.Name) {
						t.Errorf("%s of %s, %s: %v, %v: %s", f.Rule.ID, path, j.Profile.Name, e.Rules, e.Profiles, j.Error)
					}
				}
			}
		}
	}
	if len(told) < 20 {
		t.Errorf("only %d rules told what a provider answers", len(told))
	}
}

// copies are databases that may be opened: a runtime left logs beside the originals.
func copies(t *testing.T, paths []string) []string {
	t.Helper()
	var to []string
	for _, path := range paths {
		at := filepath.Join(t.TempDir(), "session.db")
		for _, suffix := range []string{"", "-wal"} {
			if data, err := os.ReadFile(path + suffix); err == nil {
				if err := os.WriteFile(at+suffix, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		to = append(to, at)
	}
	return to
}

func findings(t *testing.T, path string, judge rules.Judge) []*check.Finding {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := check.Run(t.Context(), o, check.Options{Rules: catalogue.All, Judge: judge})
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	return result.Findings
}
