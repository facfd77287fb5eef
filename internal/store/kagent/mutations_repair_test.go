package kagent_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestRepairsOfMutations repairs stores that were damaged at random, with all that may
// be allowed. A repair is made, or refused while it is planned: none is rolled back.
// Nothing is lost, a second repair has nothing to do unless the first one said so, and
// undo gives back what was stored.
func TestRepairsOfMutations(t *testing.T) {
	first, rounds := uint64(0), campaign.Rounds(60, 2500)
	if cases := os.Getenv("SESSCTL_MUTATIONS"); cases != "" { // the first, and how many
		if _, err := fmt.Sscan(cases, &first, &rounds); err != nil {
			t.Fatal(err)
		}
	}
	var figures mutationFigures
	for n := range uint64(rounds) {
		t.Run(fmt.Sprint(first+n), func(t *testing.T) { figures.repair(t, first+n) })
	}
	t.Logf("%+v", figures)
}

// mutationFigures count what became of the cases.
type mutationFigures struct{ Cases, Nothing, Repaired, Refusals, Later, Unreadable int }

func (f *mutationFigures) repair(t *testing.T, seed uint64) {
	g := rand.New(rand.NewPCG(seed, 0x6d75))
	forms := sortedForms()
	form := forms[g.IntN(len(forms))]
	path := filepath.Join(t.TempDir(), "kagent.db")
	program := programOf(g)
	if _, err := program.Build(path, kagenttest.Forms[form]); err != nil {
		t.Fatal(err)
	}
	done := damage(t, path, g)
	defer func() {
		if t.Failed() {
			t.Logf("%s, %s: %q", program.Name, form, done)
		}
	}()
	before, events := storetest.Dump(t, path), eventsIn(t, path)
	plan, receipt, err := repairtest.Repair(path, "split", "guesses")
	f.Cases++
	switch {
	case problem.ClassOf(err) == problem.Unreadable && plan != nil && len(plan.Trees) == 0:
		f.Unreadable++
		return
	case err != nil:
		t.Fatalf("class %d: %v", problem.ClassOf(err), err)
	}
	f.Refusals += len(plan.Refused)
	if receipt == nil {
		f.Nothing++
		unchangedIn(t, path, before)
		return
	}
	f.Repaired++
	nothingLost(t, path, events, receipt)
	f.second(t, path, plan)
	if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
		t.Fatal(err)
	}
	unchangedIn(t, path, before)
}

// second plans the repair of what was repaired.
func (f *mutationFigures) second(t *testing.T, path string, plan *repair.Plan) {
	t.Helper()
	again, _, err := repairtest.Plan(path, "split", "guesses")
	switch {
	case err != nil:
		t.Error(err)
	case again.IsEmpty():
	case len(plan.Later) > 0:
		f.Later++
	default:
		for _, fix := range again.Trees[0].Fixes {
			t.Errorf("a second repair would: %s %s:%d %s", fix.Rule, fix.Session, fix.Item, fix.Title)
		}
	}
}

func eventsIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for _, row := range queried(t, path, "select cast(id as text), cast(user_id as text) from event") {
		ids[row[0]] = true
	}
	return ids
}

// nothingLost makes sure that every event is stored or in the receipt.
func nothingLost(t *testing.T, path string, before map[string]bool, receipt *repair.Receipt) {
	t.Helper()
	now := eventsIn(t, path)
	for id := range before {
		if now[id] {
			continue
		}
		if !slices.ContainsFunc(receipt.Batches, func(b *repair.Batch) bool {
			return slices.ContainsFunc(b.Kept, func(k repair.Kept) bool { return strings.HasPrefix(k.Row, "event/"+id) })
		}) {
			t.Errorf("event %q is neither in the store nor in the receipt", id)
		}
	}
}

func unchangedIn(t *testing.T, path string, before []string) {
	t.Helper()
	if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
		t.Errorf("the store is not as before: %s", diff)
	}
}
