package adk_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestNothingIsLost repairs random sessions of random agents with random damage, and
// holds what is stored then against what was stored before, with plain SQL.
func TestNothingIsLost(t *testing.T) {
	campaign.Checks(t, 40, 500)
	nothingIsLost(t, adktest.Generations)
}

// TestNothingOfJavaScriptIsLost does the same with databases in whose order a place is a
// millisecond, so that what comes behind a new event often has to make room.
func TestNothingOfJavaScriptIsLost(t *testing.T) {
	campaign.Checks(t, 30, 1000)
	nothingIsLost(t, []adktest.Generation{adktest.J1})
}

func nothingIsLost(t *testing.T, generations []adktest.Generation) {
	folder, n := t.TempDir(), 0
	damages := slices.Sorted(maps.Keys(adktest.Damages))
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(generations).Draw(t, "generation")
		var sessions []adktest.Session
		for range rapid.IntRange(1, 3).Draw(t, "sessions") {
			seed := rapid.Uint64().Draw(t, "seed")
			s := rapid.SampledFrom([]func(uint64, int) adktest.Session{g.Random, func(seed uint64, size int) adktest.Session { return interrupted(g, seed, size) }}).Draw(t, "end")(seed, rapid.IntRange(1, 12).Draw(t, "agents"))
			s.ID = fmt.Sprint(s.ID, "-", len(sessions))
			rng := rand.New(rand.NewPCG(seed, 4))
			for range rapid.IntRange(0, 4).Draw(t, "damages") {
				adktest.Damages[rapid.SampledFrom(damages).Draw(t, "damage")](rng, &s)
			}
			sessions = append(sessions, s)
		}
		n++
		path := filepath.Join(folder, fmt.Sprintf("%d.db", n))
		for i := range sessions {
			distinct(&sessions[i])
		}
		if err := adktest.Create(path, g, sessions...); err != nil {
			t.Fatal(err)
		}
		before, said, found := dump(t, path), sayings(t, path), rulesOf(t, path)
		plan, receipt, err := repairtest.Repair(path)
		if err != nil {
			t.Fatalf("%v\n%s", err, told(plan))
		}
		if receipt == nil {
			if dump(t, path) != before {
				t.Fatal("an empty plan changes something")
			}
			return
		}
		everythingIsThere(t, said, sayings(t, path), receipt)
		for rule := range rulesOf(t, path) {
			if !found[rule] {
				t.Fatalf("%s is found after the repair, and was not before:\n%s", rule, told(plan))
			}
		}
		stable(t, path, before, receipt)
	})
}

// distinct gives events ids that no other event has.
func distinct(s *adktest.Session) {
	used := map[string]bool{}
	for i := range s.Events {
		for used[s.Events[i].ID] {
			s.Events[i].ID += "x"
		}
		used[s.Events[i].ID] = true
	}
}

// rulesOf are the rules above info that find something in a database.
func rulesOf(t tester, path string) map[string]bool {
	t.Helper()
	plan, _, err := repairtest.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range plan.Findings {
		found[f.Rule.ID] = f.Severity > rules.Info || found[f.Rule.ID]
	}
	for _, tree := range plan.Trees {
		for _, f := range tree.Fixes {
			found[f.Rule] = true
		}
	}
	maps.DeleteFunc(found, func(_ string, above bool) bool { return !above })
	return found
}

// sayings counts the parts of all events: what each says, without the ids that a
// repair may change.
func sayings(t tester, path string) map[string]int {
	t.Helper()
	column := "content"
	for _, c := range query(t, path, "select name from pragma_table_info('events')") {
		if c[0] == "event_data" {
			column = "event_data"
		}
	}
	count := map[string]int{}
	for _, row := range query(t, path, "select session_id, "+column+" from events") {
		for _, part := range partsOf(t, row[1]) {
			count[row[0]+" "+part]++
		}
	}
	return count
}

// partsOf are the parts of a stored content, or of the document that it is in.
func partsOf(t tester, text string) []string {
	t.Helper()
	type parts struct {
		Parts []map[string]any `json:"parts"`
	}
	if text == "<nil>" { // a summary has no content
		return nil
	}
	var doc struct {
		parts
		Content *parts `json:"content"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(text, err)
	}
	if doc.Content != nil {
		doc.parts = *doc.Content
	}
	var list []string
	for _, p := range doc.Parts {
		for _, said := range p {
			if members, ok := said.(map[string]any); ok {
				delete(members, "id")
			}
		}
		line, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(line))
	}
	return list
}

// everythingIsThere: every part is stored or in the receipt, and what is new says
// that a repair wrote it.
func everythingIsThere(t tester, before, after map[string]int, receipt *repair.Receipt) {
	t.Helper()
	kept := map[string]bool{}
	for _, batch := range receipt.Batches {
		for _, k := range batch.Kept {
			if k.Text != "" {
				for _, part := range partsOf(t, k.Text) {
					kept[k.Session+" "+part] = true
				}
			}
		}
	}
	for part, n := range before {
		if after[part] < n && !kept[part] {
			t.Fatalf("%d of %d are stored, and the receipt has none: %s", after[part], n, part)
		}
	}
	for part, n := range after {
		if n > before[part] && !strings.Contains(part, `"[sessctl] `) {
			t.Fatalf("%d are stored where there were %d: %s", n, before[part], part)
		}
	}
}

// Events of one time are put into another order, which makes a branch right that the same
// plan changes before: what two fixes do to it cancels out.
func TestEditsOfAPlanThatCancelOut(t *testing.T) {
	for name, end := range map[string]func(uint64, int) adktest.Session{"whole": adktest.J1.Random, "interrupted": func(seed uint64, size int) adktest.Session { return interrupted(adktest.J1, seed, size) }} {
		t.Run(name, func(t *testing.T) {
			s := end(0x19e1, 8)
			adktest.Damages["events have one time"](rand.New(rand.NewPCG(0x19e1, 4)), &s)
			path := filepath.Join(t.TempDir(), "s.db")
			if err := adktest.Create(path, adktest.J1, s); err != nil {
				t.Fatal(err)
			}
			before := dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatalf("%v\n%s", err, told(plan))
			}
			stable(t, path, before, receipt)
		})
	}
}
