package repair_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// shapeOf is what all sessions of a database say, in order.
func shapeOf(t testing.TB, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	shape, err := agenttest.Shape(db)
	if err != nil {
		t.Fatal(err)
	}
	return shape
}

// TestTheCorpusGetsTheShapeOfTheHealthyRuntime: the same scripts were recorded
// with a runtime that leaks and with one that does not.
func TestTheCorpusGetsTheShapeOfTheHealthyRuntime(t *testing.T) {
	for _, name := range []string{
		"clean", "single", "notext", "nested", "two-transfers", "same-agent-twice", "handoff-transfer", "err-child", "kill-child",
	} {
		t.Run(name, func(t *testing.T) {
			path := fromCorpus(t, "leaky/"+name+".db")
			dump := agentDump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatal(err)
			}
			if name == "clean" {
				if !plan.IsEmpty() || receipt != nil {
					t.Fatal("a clean store has a plan")
				}
				return
			}
			want, got := shapeOf(t, fromCorpus(t, "fixed/"+name+".db")), shapeOf(t, path)
			if name == "err-child" || name == "kill-child" {
				got = withoutRebuilt(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			for _, f := range plan.Findings {
				if f.Severity > rules.Info && !f.Rule.Wire {
					t.Errorf("%s is left: %s", f.Rule.ID, f.Message)
				}
			}
			repeated(t, path)
			upstreamAgrees(t, path)
			if n, err := repairtest.Undo(path, receipt.Path()); err != nil || n == 0 {
				t.Fatalf("undo of %d sessions: %v", n, err)
			}
			if diff := cmp.Diff(dump, agentDump(t, path)); diff != "" {
				t.Errorf("after the undo, before (-), now (+):\n%s", diff)
			}
		})
	}
}

// withoutRebuilt is a shape without what a repair has to add where the runtime
// kept nothing: rebuilt sub-sessions, and results that nobody recorded.
func withoutRebuilt(shape string) string {
	var lines []string
	below := -1
	for line := range strings.Lines(shape) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if below >= 0 && depth > below {
			continue
		}
		below = -1
		if strings.Contains(line, "subsession") {
			below = depth
			continue
		}
		if strings.Contains(line, "[sessctl] ") {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// repeated makes sure that a second repair finds nothing to do and changes no
// byte.
func repeated(t testing.TB, path string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plan, receipt, err := repairtest.Repair(path)
	if err != nil || !plan.IsEmpty() || receipt != nil {
		t.Fatalf("a second repair has %d trees to do, %v", len(plan.Trees), err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("a second repair changed the file (%v)", err)
	}
}
