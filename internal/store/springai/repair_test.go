package springai_test

import (
	"slices"
	"strings"
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

// TestLaterVersions repairs databases as releases may write them that do not exist yet:
// where what a repair writes is known.
func TestLaterVersions(t *testing.T) {
	for name, tc := range map[string]struct {
		statements []string
		says       string // SC002; "" where it has nothing to say
		repaired   bool
	}{
		"a table of another program": {[]string{"create table ai_session_note(session_id text)"}, "", true},
		"columns that nothing uses": {
			[]string{"alter table ai_session_event add column tokens integer not null default 0", "alter table ai_session add column title varchar(80)"},
			`info Its tables are not those of a release that sessctl knows. Sessions and events were read; not read: ` +
				`column "title" of ai_session, column "tokens" of ai_session_event. A repair is safe`, true,
		},
		"a second order": {
			[]string{"alter table ai_session_event add column turn integer", "update ai_session_event set turn = seq"},
			`warning Its tables are not those of a release that sessctl knows. Sessions and events were read; not read: column "turn" of ai_session_event. ` +
				"You can check, view and export it. It is not repaired: sessctl does not know what column", false,
		},
		"a second version": {
			[]string{"alter table ai_session add column revision integer", "update ai_session set revision = 4"},
			`sessctl does not know what column "revision" of ai_session means for its rows`, false,
		},
		"rows of another table for each event": {
			[]string{"create table ai_event_vector(event_id varchar(36) references ai_session_event(id) on delete cascade)"},
			`table "ai_event_vector" refers to rows of ai_session_event`, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := built(t, t.TempDir(), "G6", springtest.Form{})
			change(t, path, tc.statements...)
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if (receipt != nil) != tc.repaired || (err == nil) != tc.repaired {
				t.Fatalf("repaired: %t (%v)", receipt != nil, err)
			}
			said := ""
			for _, f := range plan.Findings {
				if f.Rule.ID == "SC002" {
					said += f.Severity.String() + " " + f.Message
				}
			}
			if !strings.Contains(said, tc.says) || (said == "") != (tc.says == "") {
				t.Errorf("SC002: %s\nwant %s", said, tc.says)
			}
			if receipt != nil {
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("the store is not as it was: %s", diff)
			}
		})
	}
}
