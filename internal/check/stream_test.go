package check_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
)

const testdata = "../../testdata"

// askedFor are the profiles of streams that no model can hint at: both APIs of
// OpenAI have the same ones.
var askedFor = map[string]string{
	"sc507-reasoning-that-led-nowhere": "openai-responses",
	"sc507-call-without-its-reasoning": "openai-responses",
	"sc508-ids-that-nobody-kept":       "openai-responses",
}

// TestADamagedStreamHasExactlyItsFinding reads the canonical streams in
// testdata/damaged, which are named after their damage: the rule's id first. The
// model that a stream names hints at whom it is judged for.
func TestADamagedStreamHasExactlyItsFinding(t *testing.T) {
	for name, rule := range damagedStreams(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(testdata, "damaged", name+".ndjson")
			r := judgeFile(t, path, store.Options{}, judge(askedFor[name], false))
			if got := idsOf(r); !slices.Equal(got, []string{rule}) {
				t.Errorf("found %v", got)
				for _, f := range r.Findings {
					t.Logf("%s %s.%d: %s", f.Rule.ID, f.Session, f.Item, f.Message)
				}
			}
		})
	}
}

// damagedStreams maps the names of the streams to the rules that they show.
func damagedStreams(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, "damaged", "*.ndjson"))
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d streams (%v)", len(paths), err)
	}
	list := map[string]string{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".ndjson")
		rule, _, _ := strings.Cut(name, "-")
		list[name] = strings.ToUpper(rule)
	}
	for name := range askedFor {
		if list[name] == "" {
			t.Errorf("no stream is called %s", name)
		}
	}
	return list
}

// TestAHealthyStreamHasNoFinding reads one with a handoff, a batch, a delegation
// and a background delegation.
func TestAHealthyStreamHasNoFinding(t *testing.T) {
	if r := checkFile(t, filepath.Join(testdata, "healthy.ndjson"), store.Options{}); len(r.Findings) > 0 {
		t.Errorf("found %v: %s", idsOf(r), r.Findings[0].Message)
	}
}
