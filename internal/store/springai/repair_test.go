package springai_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// moving are scripts whose repair writes new rows, or old ones anew.
var moving = []string{"G3", "G5", "G6", "late response"}

// TestEveryScriptIsRepaired repairs every case of the notes, and takes the repair
// back.
func TestEveryScriptIsRepaired(t *testing.T) {
	for name, form := range springtest.Forms {
		if form.ByTime {
			continue // such a file is not repaired in place
		}
		whole := form == springtest.Form{} || form == springtest.Form{Plain: true}
		for _, script := range springtest.Scripts {
			if !whole && !slices.Contains(moving, script.Name) {
				continue // how names and values are spelled matters where rows are made and moved
			}
			t.Run(name+"/"+script.Name, func(t *testing.T) {
				path := built(t, t.TempDir(), script.Name, form)
				before := storetest.Dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil {
					for _, tree := range plan.Trees {
						for _, f := range tree.Fixes {
							t.Logf("round %d %s %s:%d %s %+v", f.Round, f.Rule, f.Session, f.Item, f.Title, f.Steps)
						}
					}
					t.Fatal(err)
				}
				if receipt == nil {
					return
				}
				again, second, err := repairtest.Repair(path)
				if err != nil || second != nil {
					t.Fatalf("a second repair has something to do: %v", err)
				}
				if diff := cmp.Diff(left(plan), left(again)); diff != "" {
					t.Errorf("the check after the repair finds something else than the plan left: %s", diff)
				}
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Errorf("undo gives something else: %s", diff)
				}
			})
		}
	}
}
