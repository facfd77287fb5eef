package repair_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// The exports of databases with leaks of random teams of agents are repaired:
// no line gets lost, and every leaked line that stays is the same but for its
// session.
func TestStreamsOfLeakyPrograms(t *testing.T) {
	fixed := 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			text := leakyStream(t, seed)
			r := repairTwice(t, text)
			fixed += len(r.plan.Trees)
			sameLines(t, text, r)
			for _, f := range r.plan.Findings {
				if f.Severity == rules.Error {
					t.Logf("left: %s %s:%d %s", f.Rule.ID, f.Session, f.Item, f.Message)
				}
			}
		})
	}
	t.Logf("%d streams were repaired", fixed)
}

func leakyStream(t *testing.T, seed uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, 18, agenttest.Seed(seed))
	must(t, err)
	_, err = agenttest.WriteLeaky(db, agenttest.Random(seed, 12))
	must(t, err)
	must(t, db.Close())
	opened, err := registry.Open(t.Context(), path, "", nil, store.Options{})
	must(t, err)
	defer func() { _ = opened.Close() }()
	return exportStream(t, opened.Store)
}

// sameLines makes sure that every line of the stream is in the new one, or in
// the receipt, or has a copy; what a repair may change in a line does not count.
func sameLines(t *testing.T, text string, r *streamRepair) {
	t.Helper()
	left := map[string]int{}
	for line := range strings.Lines(r.out) {
		left[withoutPlace(line)]++
	}
	copies := map[string]bool{}
	for line := range left {
		copies[line] = true
	}
	for line := range strings.Lines(r.kept()) {
		left[withoutPlace(line)]++
	}
	removed := 0
	for line := range strings.Lines(text) {
		plain := withoutPlace(line)
		if left[plain]--; left[plain] >= 0 || strings.Contains(line, `"type":"session"`) {
			continue
		}
		if removed++; !copies[plain] {
			t.Errorf("lost: %s", line)
		}
	}
	if r.receipt != nil && removed != r.receipt.Ledger.Removed {
		t.Errorf("%d copies are gone, and the receipt has %d", removed, r.receipt.Ledger.Removed)
	}
}

// place matches what a repair may change in a line: the session of an item and
// the agent of a result.
var place = regexp.MustCompile(`"session":"[^"]*"|"role":"tool","agent":"[^"]*"`)

func withoutPlace(line string) string { return place.ReplaceAllString(strings.TrimSpace(line), "") }

// The exports of databases that a runtime wrote are repaired in the same way.
func TestStreamsOfTheCorpus(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "corpus", "docker-agent", "*", "*.db"))
	must(t, err)
	if len(paths) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			opened, err := registry.Open(t.Context(), storetest.Copy(t, path, t.TempDir()), "", nil, store.Options{})
			must(t, err)
			defer func() { _ = opened.Close() }()
			text := exportStream(t, opened.Store)
			sameLines(t, text, repairTwice(t, text))
		})
	}
}

// A child that the repair creates reads its task back.
func TestTheTaskOfANewChildIsReadBack(t *testing.T) {
	tests := []struct{ name, call string }{
		{"argument", `{"id":"T","name":"transfer_task","args":"{\"agent\":\"w\",\"task\":\"do\\nit\",\"expected_output\":\"it\"}"}`},
		{"another argument", `{"id":"T","name":"ask","args":"{\"request\":\"do\\nit\"}","delegation":{"agent":"w","task":"do\nit"}}`},
		{"only with the call", `{"id":"T","name":"ask","args":"{\"n\":1}","delegation":{"agent":"w","task":"do\nit"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[`+tt.call+`]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"w","text":"doing","x":1e2}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T","text":"done"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
`)
			sessions := readStream(t, r.out)
			if len(sessions) != 2 {
				t.Fatalf("%d sessions:\n%s", len(sessions), r.out)
			}
			for _, s := range sessions {
				if s.ID == "P" {
					continue
				}
				want := session.DigestOf("do\nit")
				if s.Task != want || s.Agent != "w" || s.Parent != "P" || len(s.Items) < 3 {
					t.Errorf("task %v, agent %q, parent %q\n%s", s.Task == want, s.Agent, s.Parent, r.out)
				}
			}
			if !strings.Contains(r.out, `"agent":"w","text":"doing","x":1e2}`) {
				t.Errorf("the leaked line is another one:\n%s", r.out)
			}
		})
	}
}
