package repair_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// TestUnknownFormsAreNotTakenOut: records that another program wrote do not go to the
// receipt without leave, and nothing beside them is repaired; damaged ones go.
func TestUnknownFormsAreNotTakenOut(t *testing.T) {
	const docker, spring = "update session_items set message_json = %s where item_type = 'message' and id %% %d = 0",
		"update ai_session_event set message_data = %s where message_type in ('ASSISTANT', 'TOOL') and seq %% %d = 0"
	for _, tt := range []struct {
		name, statement, value string
		each                   int // one record of so many
		foreign                bool
	}{
		{"docker agent, many of a new form", docker, `'{"role":"user","content":{"parts":[' || json_quote(message_json) || ']}}'`, 2, true},
		{"docker agent, one of a new form", docker, `'{"role":"user","content":{"parts":[]}}'`, 500, true},
		{"docker agent, many that are no JSON", docker, "'KLUv/QBY' || hex(message_json)", 2, true},
		{"docker agent, one that is no JSON", docker, "'KLUv/QBY'", 500, false},
		{"docker agent, one that is cut off", docker, "substr(message_json, 1, 40)", 500, false},
		{"Spring AI Session, many of a new form", spring, `'{"toolCalls":' || coalesce(message_data, 'null') || '}'`, 2, true},
		{"Spring AI Session, one of a new form", spring, `'{"toolCalls":[]}'`, 60, true},
		{"Spring AI Session, one that is cut off", spring, `'[{"id":"c1","na'`, 60, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			if tt.statement == docker {
				manySessions(t, path)
			} else {
				manyEvents(t, path)
			}
			db := openPlain(t, path)
			if _, err := db.Exec(fmt.Sprintf(tt.statement, tt.value, tt.each)); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			out := takenOut(t, path)
			if out > 0 == tt.foreign {
				t.Errorf("%d records would be taken out", out)
			}
			if allowed := takenOut(t, path, rules.UnknownForm); allowed == 0 {
				t.Error("nothing is taken out with leave")
			}
			plan, _, err := repairtest.Plan(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range plan.Refused {
				for _, tree := range plan.Trees {
					if tree.Root == r.Root {
						t.Errorf("session %s is refused and repaired", r.Root)
					}
				}
			}
			if tt.foreign == (len(plan.Refused) == 0) || tt.foreign && !strings.Contains(plan.Refused[0].Why, "a form that sessctl does not know") {
				t.Errorf("refused: %v", plan.Refused)
			}
		})
	}
}

// takenOut counts the records that a plan takes out because they do not decode.
func takenOut(t *testing.T, path string, allow ...string) int {
	t.Helper()
	plan, _, err := repairtest.Plan(path, allow...)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, tree := range plan.Trees {
		for _, f := range tree.Fixes {
			if f.Rule == "SC010" {
				n++
			}
		}
	}
	return n
}

func manySessions(t *testing.T, path string) {
	t.Helper()
	db, err := agenttest.Create(path, 28)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		if _, err := agenttest.WriteFixed(db, agenttest.Random(seed, 30)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func manyEvents(t *testing.T, path string) {
	t.Helper()
	db, err := springtest.Create(path, springtest.Forms["seq given out"])
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(6) {
		springtest.Random(db, fmt.Sprint("S", seed), seed, 6)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
