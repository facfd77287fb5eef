package machine

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
)

// TestAReplayIsTheDocumentOfItsParts reads the documents that were printed as one.
func TestAReplayIsTheDocumentOfItsParts(t *testing.T) {
	for _, name := range []string{"delegation", "odd", "empty"} {
		printed, err := os.ReadFile("../testdata/replay/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var document replayDocument
		if err := json.Unmarshal(printed, &document, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := writeJSON(&again, document, jsontext.WithIndent("  "), json.Deterministic(true)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(printed), again.String()); diff != "" {
			t.Errorf("%s (-printed +as one):\n%s", name, diff)
		}
	}
}

// TestEveryReasonOfAnEventHasItsName: one of its own, which the page explains.
func TestEveryReasonOfAnEventHasItsName(t *testing.T) {
	page, err := os.ReadFile("../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for r := replay.NothingStored; r <= replay.RunBegins; r++ {
		name := r.String()
		if name == "" || seen[name] || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("reason %d: got the name %q", r, name)
		}
		seen[name] = true
	}
}

// TestEveryAnomalyHasItsName: one which the schema explains, if an event may have it.
func TestEveryAnomalyHasItsName(t *testing.T) {
	page, err := os.ReadFile("../../../docs/schema/replay.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []recording.AnomalyKind{recording.UnmatchedEnd, recording.UnmatchedStart, recording.BegunInside} {
		if name := replayAnomalies[kind]; name == "" || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("kind %d: got the name %q", kind, name)
		}
	}
}
