package repair_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// differences compares two store files as the command does.
func differences(t tester, a, b string) (trees []*diff.Tree, tally diff.Tally) {
	t.Helper()
	ctx := context.Background()
	var sources []diff.Source
	for _, path := range []string{a, b} {
		opened, err := registry.Open(ctx, path, "", nil, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = opened.Close() }()
		sources = append(sources, diff.Source{Store: opened.Store, Keyed: opened.Kind.Edit != nil})
	}
	found, err := diff.CompareStores(ctx, sources[0], sources[1], "")
	if err == nil {
		tally, err = found.EachTree(ctx, func(tree *diff.Tree) error {
			trees = append(trees, tree)
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return trees, tally
}

// agreesWithLedger holds what differs between a backup and the repaired store against the
// receipt's numbers and the plan's moves. Of a changed order there can be several shortest
// descriptions, so within a session only the number of moves is bounded.
func agreesWithLedger(t tester, trees []*diff.Tree, tally diff.Tally, plan *repair.Plan, l repair.Ledger) {
	t.Helper()
	planned := map[string]bool{}
	for _, tree := range plan.Trees {
		for _, f := range tree.Fixes {
			for _, e := range f.Edits {
				if e.Op == session.Move {
					planned[e.Ref.Row()] = true
				}
			}
		}
	}
	edited := 0
	for _, tree := range trees {
		for i := range tree.Sessions {
			for _, it := range tree.Sessions[i].Items {
				if it.Was != nil && it.Is != nil && len(it.Differences) > 0 && !onlyPlace(it.Differences) {
					edited++
				}
				if it.Change == diff.Moved && it.A.Session != it.B.Session && !planned[it.A.Key] {
					t.Errorf("%+v moved to %+v although the plan moves it nowhere", it.A, it.B)
				}
			}
		}
	}
	if n := tally.Items; n.Added != l.Synthetic || n.Gone != l.Quarantined+l.Removed || edited != l.Edited || n.Moved > len(planned) {
		t.Errorf("the comparison says %+v, %d edited; the receipt says %+v and the plan moves %d", n, edited, l, len(planned))
	}
}

// onlyPlace reports whether nothing of what an item says differs: the place of its tail
// and the agent of a row are columns beside its record.
func onlyPlace(names []string) bool {
	for _, name := range names {
		if name != "kept_from" && name != "agent" {
			return false
		}
	}
	return true
}

// TestDifferencesFromTheBackupAreThoseOfTheLedger repairs random damaged trees, and
// compares the backup with the repaired store.
func TestDifferencesFromTheBackupAreThoseOfTheLedger(t *testing.T) {
	campaign.Checks(t, 60, 5_000)
	folder := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(folder, fmt.Sprintf("%d.db", n))
		defer removeAll(path)
		damaged(t, path)
		plan, receipt, err := repairtest.Repair(path)
		if err != nil {
			t.Fatal(err)
		}
		if receipt == nil {
			if trees, _ := differences(t, path, path); trees != nil {
				t.Errorf("a store differs from itself")
			}
			return
		}
		trees, tally := differences(t, path+".backup", path)
		agreesWithLedger(t, trees, tally, plan, receipt.Ledger)
	})
}

// TestDifferencesOfRecordedStores does the same with stores that docker agent wrote, and
// holds each against its export.
func TestDifferencesOfRecordedStores(t *testing.T) {
	for _, name := range []string{"clean", "err-child", "handoff-transfer", "nested", "notext", "same-agent-twice", "single", "two-transfers"} {
		t.Run(name, func(t *testing.T) {
			path := fromCorpus(t, "leaky/"+name+".db")
			plan, receipt, err := repairtest.Repair(path)
			must(t, err)
			if receipt != nil {
				trees, tally := differences(t, path+".backup", path)
				agreesWithLedger(t, trees, tally, plan, receipt.Ledger)
			}
			opened, err := registry.Open(t.Context(), path, "", nil, store.Options{})
			must(t, err)
			stream := filepath.Join(t.TempDir(), "export.ndjson")
			must(t, os.WriteFile(stream, []byte(exportStream(t, opened.Store)), 0o600))
			must(t, opened.Close())
			if trees, tally := differences(t, path, stream); trees != nil {
				t.Errorf("the export differs: %+v", tally)
			}
		})
	}
}
