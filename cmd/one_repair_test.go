package cmd_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// TestOneRepair: check says of a finding that it is repaired exactly where the plan of repair
// repairs it, and why names a repair of a session exactly where that plan has one.
func TestOneRepair(t *testing.T) {
	every, repaired, refused := campaign.Stride(2, 1), 0, 0
	for n, s := range netStores(t) {
		if n%every != 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), s.file)
			if err := s.copy(path); err != nil {
				t.Fatal(err)
			}
			yes, no := oneRepair(t, path)
			repaired, refused = repaired+yes, refused+no
		})
	}
	t.Logf("%d findings are repaired, %d that have a fix are not", repaired, refused)
	if campaign.Long() && (repaired == 0 || refused == 0) {
		t.Error("the stores do not have both")
	}
}

// foretold is a finding as check reports it.
type foretold struct {
	Rule, Severity, Root, Profile, Fingerprint string
	Fix                                        *struct {
		Safety string
		Allow  []string
	}
}

func (f *foretold) repaired() bool {
	accepted := f.Profile != "" && f.Severity == "info"
	return f.Fix != nil && len(f.Fix.Allow) == 0 && !accepted && slices.Contains([]string{"lossless", "kept"}, f.Fix.Safety)
}

func oneRepair(t *testing.T, path string) (repaired, not int) {
	t.Helper()
	var checked struct{ Findings []foretold }
	var planned struct {
		Plan struct {
			Trees []struct {
				Root  string
				Fixes []struct{ Rule, Fingerprint string }
			}
			Left    []string
			Refused []struct{ Root, Rule, Why string }
		}
	}
	for command, result := range map[string]any{"check": &checked, "repair": &planned} {
		args := []string{command, path, "--format", "json"}
		if command == "check" {
			args = append(args, "--severity", "info", "--fail-on", "never")
		} else {
			args = append(args, "--dry-run")
		}
		_, out, stderr := run(t, args...)
		if json.Unmarshal([]byte(out), result) != nil {
			t.Logf("%s: %s", command, stderr) // it cannot be read
			return 0, 0
		}
	}
	made, roots := map[string]bool{}, map[string]bool{}
	for _, tree := range planned.Plan.Trees {
		roots[tree.Root] = true
		for _, f := range tree.Fixes {
			made[f.Rule+f.Fingerprint] = true
		}
	}
	broken := map[string]bool{}
	for _, f := range checked.Findings {
		mends := made[f.Rule+f.Fingerprint] || !slices.Contains(planned.Plan.Left, f.Fingerprint)
		switch {
		case f.repaired() && !mends:
			t.Errorf("check says that %s %s of %s is repaired, and the plan leaves it: %+v", f.Rule, f.Fingerprint, f.Root, planned.Plan.Refused)
		case !f.repaired() && made[f.Rule+f.Fingerprint]:
			t.Errorf("check says that %s %s of %s is not repaired, and the plan repairs it", f.Rule, f.Fingerprint, f.Root)
		case f.repaired():
			repaired++
		case f.Fix != nil:
			not++
		}
		broken[f.Root] = broken[f.Root] || f.Severity == "error"
	}
	asked := 0
	for root := range broken {
		if asked++; asked > 3 {
			break
		}
		if root == "" || !broken[root] {
			continue
		}
		why := askWhy(t, path, "--", root)
		if named := why.Repair != nil && len(why.Repair.Allow) == 0 && !why.Repair.AssumeDead; why.Session.ID == root && why.Verdict != "damaged" && named != roots[root] {
			t.Errorf("why names a repair of %s: %v, and the plan has one: %v (%+v)", root, named, roots[root], why.Repair)
		}
	}
	return repaired, not
}
