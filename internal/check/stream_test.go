package check_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
)

const testdata = "../../testdata"

// TestADamagedStreamHasExactlyItsFinding reads the canonical streams in
// testdata/damaged, which are named after their damage: the rule's id first.
func TestADamagedStreamHasExactlyItsFinding(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testdata, "damaged", "*.ndjson"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d streams (%v)", len(paths), err)
	}
	for _, path := range paths {
		id, _, _ := strings.Cut(filepath.Base(path), "-")
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := checkFile(t, path, store.Options{})
			if got := idsOf(r); !slices.Equal(got, []string{strings.ToUpper(id)}) {
				t.Errorf("found %v", got)
				for _, f := range r.Findings {
					t.Logf("%s %s.%d: %s", f.Rule.ID, f.Session, f.Item, f.Message)
				}
			}
		})
	}
}

// TestAHealthyStreamHasNoFinding reads one with a handoff, a batch, a delegation
// and a background delegation.
func TestAHealthyStreamHasNoFinding(t *testing.T) {
	if r := checkFile(t, filepath.Join(testdata, "healthy.ndjson"), store.Options{}); len(r.Findings) > 0 {
		t.Errorf("found %v: %s", idsOf(r), r.Findings[0].Message)
	}
}
