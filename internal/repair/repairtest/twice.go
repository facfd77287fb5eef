package repairtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// Dump is what a repair is held against, of a SQLite file.
type Dump = func(t storetest.Tester, path string) []string

// Twice repairs a store and takes that back: a second repair has nothing to do, and
// everything is as before. The queries are asked while it is repaired.
func Twice(t storetest.Tester, path string, dump Dump, queries ...string) (repaired, answers []string) {
	t.Helper()
	before := storetest.Dump(t, path)
	plan, receipt, err := Repair(path)
	if err != nil || receipt == nil {
		t.Fatalf("nothing was repaired: %v%s", err, Told(plan))
	}
	repaired, answers = dump(t, path), storetest.Query(t, path, queries...)
	takenBack(t, path, before, plan, receipt)
	return repaired, answers
}

// takenBack repairs a repaired store again, and takes back what was, to the last value.
func takenBack(t storetest.Tester, path string, before []string, plan *repair.Plan, receipt *repair.Receipt) {
	t.Helper()
	Idle(t, path, Told(plan))
	if _, err := Undo(path, receipt.Path()); err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
		t.Fatalf("undo gives something else: %s", diff)
	}
}

// Idle makes sure that a repair finds nothing to do.
func Idle(t storetest.Tester, path, behind string, allow ...string) {
	t.Helper()
	if plan, receipt, err := Repair(path, allow...); err != nil || receipt != nil {
		t.Fatalf("behind %s\na second repair has something to do: %v%s", behind, err, Told(plan))
	}
}

// Told is a plan in words.
func Told(plan *repair.Plan) string {
	var text strings.Builder
	for _, tree := range plan.Trees {
		for _, f := range tree.Fixes {
			fmt.Fprintf(&text, "\nround %d %s %s:%d %s", f.Round, f.Rule, f.Session, f.Item, f.Title)
		}
	}
	for _, r := range plan.Refused {
		fmt.Fprintf(&text, "\nrefused %s %s", r.Rule, r.Why)
	}
	return text.String()
}

// Pairs repairs the databases of a corpus that stand beside their NAME.repaired.db, and holds
// the rows against each other, without what differs between two repairs of one database.
func Pairs(t *testing.T, c storetest.Corpus, dump Dump, fresh *regexp.Regexp) {
	t.Helper()
	for _, name := range c.Names(t) {
		name, repaired := strings.CutSuffix(name, ".repaired")
		if !repaired {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := dump(t, c.Copy(t, name+".repaired"))
			got, _ := Twice(t, c.Copy(t, name), dump)
			for _, list := range [][]string{want, got} {
				for i := range list {
					list[i] = fresh.ReplaceAllString(list[i], "")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-recorded +repaired:\n%s", diff)
			}
		})
	}
}

// NothingIsLost repairs random damaged stores, holds the result against what was stored
// before with plain SQL, repairs again and takes it back. What makes a store gives the
// comparison back, which knows what was stored.
func NothingIsLost(t *testing.T, damaged func(t *rapid.T, path string) (compare func(receipt *repair.Receipt))) {
	t.Helper()
	campaign.Checks(t, 40, 2000)
	folder, n := t.TempDir(), 0
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(folder, fmt.Sprint(n, ".db"))
		defer func() {
			for _, suffix := range []string{"", ".backup", ".receipt.json"} {
				_ = os.Remove(path + suffix)
			}
		}()
		compare := damaged(t, path)
		before := storetest.Dump(t, path)
		plan, receipt, err := Repair(path)
		if err != nil {
			t.Fatalf("%v%s", err, Told(plan))
		}
		for _, r := range plan.Refused {
			outcomes["refused "+r.Rule+" "+r.Why]++
		}
		if receipt == nil {
			outcomes["nothing to do"]++
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Fatalf("an empty plan changed something: %s", diff)
			}
			return
		}
		outcomes["repaired"]++
		for _, left := range receipt.LeftOut { // nothing that a fix changes is beside what has no place for it
			t.Fatalf("left out: %+v%s", left, Told(plan))
		}
		compare(receipt)
		takenBack(t, path, before, plan, receipt)
	})
	t.Log(outcomes)
}
