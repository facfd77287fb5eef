package repair_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestReportedCases repairs the smallest reproductions of wrong answers that were
// reported: what is repaired can be undone, and what cannot be undone is not repaired.
func TestReportedCases(t *testing.T) {
	const cases = "../../../shared/cases"
	for name, class := range map[string]problem.Class{
		"implicit-rolls-back": 0, "trigger-no-undo": problem.RolledBack, "springai-unknown-form": 0,
	} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(cases, name, "s.db"))
			if os.IsNotExist(err) {
				t.Skip("the reported cases are not beside the module")
			}
			path := filepath.Join(t.TempDir(), "s.db")
			if err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if problem.ClassOf(err) != class {
				t.Fatalf("%v\n%s", err, toldOf(plan))
			}
			if name == "implicit-rolls-back" && receipt == nil {
				t.Fatal("nothing was repaired")
			}
			if receipt != nil {
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("after the undo: %s", diff)
			}
		})
	}
}
