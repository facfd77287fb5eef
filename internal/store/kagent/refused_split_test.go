package kagent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// TestARefusedSplitStaysRefused repairs a session in which a run answered another one's
// call: the other repairs of the same plan take that answer out, and with it what tells
// that neither run is whole alone.
func TestARefusedSplitStaysRefused(t *testing.T) {
	for _, form := range sortedForms() {
		t.Run(form, func(t *testing.T) {
			path, truth := build(t, kagenttest.Script("cross-ids"), kagenttest.Forms[form])
			before := homesIn(t, path)
			plan, receipt, err := repairtest.Repair(path, "split", "guesses")
			if err != nil || receipt == nil {
				t.Fatalf("nothing was repaired (%v)", err)
			}
			if !slices.ContainsFunc(plan.Trees[0].Before, func(f *check.Finding) bool {
				return f.Rule.ID == "SC707" && strings.Contains(f.Message, "A repair cannot split it, because a result of call")
			}) {
				t.Fatal("no split was refused")
			}
			for _, f := range plan.Trees[0].Fixes {
				if f.Rule == "SC707" {
					t.Errorf("the plan splits in round %d: %s", f.Round, f.Title)
				}
			}
			if diff := cmp.Diff(before, homesIn(t, path)); diff != "" || len(truth.Calls) != 2 {
				t.Errorf("%d calls, and their tasks moved: %s", len(truth.Calls), diff)
			}
		})
	}
}

// TestSplitKeepsWhoBeganFirst splits a session in which the second run spoke first: the
// one that the session is named after keeps it.
func TestSplitKeepsWhoBeganFirst(t *testing.T) {
	for _, form := range sortedForms() {
		t.Run(form, func(t *testing.T) {
			path, _ := build(t, kagenttest.Script("nested"), kagenttest.Forms[form])
			if _, receipt, err := repairtest.Repair(path, "split"); err != nil || receipt == nil {
				t.Fatalf("nothing was split (%v)", err)
			}
			seen := map[string]string{}
			for _, row := range queried(t, path, "select coalesce(name, ''), id from session") {
				if other := seen[row[0]]; other != "" {
					t.Errorf("sessions %s and %s are both called %q", other, row[1], row[0])
				}
				seen[row[0]] = row[1]
			}
		})
	}
}
