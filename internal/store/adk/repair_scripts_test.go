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
	"interrupted": "SC101", "partly-answered": "SC101", "orphan-response": "SC103", "ties": "SC011",
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
