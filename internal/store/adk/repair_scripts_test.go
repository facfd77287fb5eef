package adk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// The rules whose repairs change a script. Nothing changes the others: transfers,
// agents behind tools, what ran side by side, and calls that wait for somebody.
var repairs = map[string]string{
	"interrupted": "SC101", "partly-answered": "SC101", "orphan-response": "SC103", "answered-together": "SC104", "ties": "SC011", "asked-and-left": "SC101",
}

// TestOpenCallsAreNamed: what somebody outside may still answer is found in every
// generation, and answered where that is allowed.
func TestOpenCallsAreNamed(t *testing.T) {
	want := map[string]string{
		"pending": "SC102 warning", "asked": "SC102 info",
		"long-running": "", "confirmed": "", "requested": "", // answered, or no model's call
	}
	for _, g := range adktest.Generations {
		for _, script := range g.For(adktest.Scripts()) {
			open, listed := want[script.ID]
			if !listed {
				continue
			}
			if g == adktest.K1 && script.ID == "requested" { // which its model reads
				open = "SC102 warning"
			}
			t.Run(string(g)+"/"+script.ID, func(t *testing.T) {
				path := created(t, g, script)
				plan, _, err := repairtest.Plan(path)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range plan.Findings {
					got = append(got, f.Rule.ID+" "+f.Severity.String())
				}
				if strings.Join(got, ", ") != open || !plan.IsEmpty() {
					t.Errorf("found %q, want %q\n%s", got, open, told(plan))
				}
				before := dump(t, path)
				if plan, _, err = repairtest.Repair(path, "waiting"); err != nil || plan.IsEmpty() != (open == "") || len(plan.Findings) > 0 {
					t.Fatalf("%v\n%s", err, told(plan))
				}
				if again, _, err := repairtest.Plan(path, "waiting"); err != nil || !again.IsEmpty() || len(again.Findings) > 0 {
					t.Errorf("a second repair has something to do: %v\n%s", err, told(again))
				}
				if open == "" && dump(t, path) != before {
					t.Error("the database changed")
				}
			})
		}
	}
}

// TestScriptsAreRepaired repairs every script in every generation, and takes it back.
func TestScriptsAreRepaired(t *testing.T) {
	for _, g := range adktest.Generations {
		for _, script := range g.For(adktest.Scripts()) {
			t.Run(string(g)+"/"+script.ID, func(t *testing.T) {
				path := created(t, g, script)
				before := dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil {
					t.Fatalf("%v\n%s", err, told(plan))
				}
				var made []string
				for _, tree := range plan.Trees {
					for _, f := range tree.Fixes {
						made = append(made, f.Rule)
					}
				}
				if got := strings.Join(slices.Compact(made), " "); got != repairs[script.ID] {
					t.Errorf("repaired %q, want %q\n%s", got, repairs[script.ID], told(plan))
				}
				if receipt != nil {
					stable(t, path, before, receipt)
				}
			})
		}
	}
}
