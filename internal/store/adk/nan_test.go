package adk_test

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

var opening = regexp.MustCompile(`("(?:args|response|state_delta|stateDelta|custom_metadata)": ?\{)("?)`)

// withNaN gives arguments, results and states members that Python's json writes and no JSON
// has, and counts them.
func withNaN(t *testing.T, path string) (count int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, at := range [][2]string{{"events", "content"}, {"events", "event_data"}, {"events", "custom_metadata"}, {"sessions", "state"}} {
		texts := map[int64]string{}
		rows, err := db.Query("select rowid, " + at[1] + " from " + at[0] + " where typeof(" + at[1] + ") = 'text'")
		if err != nil { // the generation has no such column
			continue
		}
		for rows.Next() {
			var row int64
			var text string
			if err := rows.Scan(&row, &text); err != nil {
				t.Fatal(err)
			}
			texts[row] = text
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for row, text := range texts {
			is := opening.ReplaceAllStringFunc(text, func(begin string) string {
				if strings.HasSuffix(begin, `"`) {
					return begin[:len(begin)-1] + `"score": NaN, "most": [Infinity, -Infinity], "`
				}
				return begin + `"score": NaN`
			})
			if at[1] == "state" {
				is = `{"score": NaN, "cart": [1, 2]}`
			}
			count += strings.Count(is, "NaN")
			if _, err := db.Exec("update "+at[0]+" set "+at[1]+" = ? where rowid = ?", is, row); err != nil {
				t.Fatal(err)
			}
		}
	}
	return count
}

// Python writes NaN and Infinity and reads them back: nothing is found because of them,
// what is repaired beside them is what is repaired without them, and they stay as they are.
func TestPythonsNumbersStay(t *testing.T) {
	for _, gen := range []adktest.Generation{adktest.P0, adktest.P1, adktest.PS} {
		changed := 0
		for _, script := range gen.For(adktest.Scripts()) {
			usual, _, err := repairtest.Plan(created(t, gen, script))
			if err != nil {
				t.Fatal(err)
			}
			if usual.IsEmpty() && gen != adktest.P1 {
				continue
			}
			path := created(t, gen, script)
			count := withNaN(t, path)
			before := dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", gen, script.ID, err, told(plan))
			}
			if diff := cmp.Diff(told(usual), told(plan)); diff != "" {
				t.Errorf("%s, %s: the plan without such numbers (-), with them (+):\n%s", gen, script.ID, diff)
			}
			if receipt == nil {
				continue
			}
			changed++
			kept, err := os.ReadFile(path + ".receipt.json")
			if err != nil {
				t.Fatal(err)
			}
			if after := dump(t, path); strings.Count(after+string(kept), "NaN") < count || strings.Contains(after, "0e0") {
				t.Errorf("%s, %s: of %d numbers some are lost:\n%s", gen, script.ID, count, after)
			}
			if _, err := repairtest.Undo(path, path+".receipt.json"); err != nil {
				t.Errorf("%s, %s: %v", gen, script.ID, err)
			} else if diff := cmp.Diff(before, dump(t, path)); diff != "" {
				t.Errorf("%s, %s: after the undo: %s", gen, script.ID, diff)
			}
			if again, _, err := repairtest.Plan(path); err != nil || !slices.Equal(strings.Fields(told(again)), strings.Fields(told(plan))) {
				t.Errorf("%s, %s: the next plan is another one: %v", gen, script.ID, err)
			}
		}
		if changed < 3 {
			t.Errorf("%s: only %d scripts were repaired", gen, changed)
		}
	}
}
