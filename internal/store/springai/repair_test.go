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
		whole := form == springtest.Form{} || form == springtest.Form{Plain: true}
		for _, script := range springtest.Scripts {
			if !whole && !slices.Contains(moving, script.Name) {
				continue // how names and values are spelled matters where rows are made and moved
			}
			if form.ByTime && script.Name == "G5" {
				continue // there nothing is archived
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

// TestTablesOrderedByTime repairs tables of 0.5 and earlier, where an event's time is its place:
// what only removes events, or adds them where there is room. Of all else it says why not.
func TestTablesOrderedByTime(t *testing.T) {
	const at = `select strftime('%S', "timestamp") || substr("timestamp", 20) || ' ' || message_type from ai_session_event order by "timestamp"`
	whole := lines(t, built(t, t.TempDir(), "healthy", springtest.Form{ByTime: true}), at)
	for name, tc := range map[string]struct {
		statements []string
		refused    string // a rule, and why
		gone, come int
	}{
		"an empty answer": {
			statements: []string{"update ai_session_event set message_content = '', message_data = null where message_content = 'you are welcome'"}, gone: 1,
		},
		"a response is missing": {statements: []string{"delete from ai_session_event where message_type = 'TOOL'"}, come: 2},
		"no room for a response": {statements: []string{
			"delete from ai_session_event where message_type = 'TOOL'",
			`update ai_session_event set "timestamp" = substr((select "timestamp" from ai_session_event where message_data like '%c1%'), 1, 19) || '.900001' where message_data is null and message_type = 'ASSISTANT' and message_content != 'you are welcome'`,
			`update ai_session_event set "timestamp" = substr("timestamp", 1, 19) || '.900000' where message_data like '%c1%'`,
		}, refused: "SC101 its time is its place"},
		"a time that is none": {
			statements: []string{`update ai_session_event set "timestamp" = 'soon' where message_content = 'thanks'`}, refused: "SC008 its time is its place",
		},
		"two of one time": {
			statements: []string{`update ai_session_event set "timestamp" = (select min("timestamp") from ai_session_event) where message_content = 'thanks'`}, refused: "SC011 its time is its place",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := built(t, t.TempDir(), "healthy", springtest.Form{ByTime: true})
			change(t, path, tc.statements...)
			before, had := storetest.Dump(t, path), len(lines(t, path, at))
			plan, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatal(err)
			}
			var refused []string
			for _, r := range plan.Refused {
				refused = append(refused, r.Rule+" "+r.Why)
			}
			rule, why, _ := strings.Cut(tc.refused, " ")
			told := slices.ContainsFunc(refused, func(r string) bool { return strings.HasPrefix(r, rule) && strings.Contains(r, why) })
			if tc.refused == "" && len(refused) > 0 || tc.refused != "" && !told {
				t.Errorf("refused: %q, want %q", refused, tc.refused)
			}
			if has := len(lines(t, path, at)); has != had-tc.gone+tc.come || (receipt != nil) != (tc.gone+tc.come > 0) {
				t.Errorf("%d events, now %d: %q of %q", had, has, lines(t, path, at), whole)
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

// TestTimeBehindASummary: what a compaction keeps is older than its summary, and so is the time that a
// message there gets; what a check says of that time is foretold.
func TestTimeBehindASummary(t *testing.T) {
	for name, tc := range map[string]struct{ other, rules string }{
		"between others":                 {"delete from ai_session_event where message_content = 'u3'", ""},
		"beside one that came meanwhile": {"select 1", "SC015"},
	} {
		path := built(t, t.TempDir(), "G5", springtest.Form{})
		change(t, path, `update ai_session_event set "timestamp" = '0000-00-00 00:00:00' where message_content = 'u2'`, tc.other)
		plan, receipt, err := repairtest.Repair(path)
		if err != nil || receipt == nil {
			t.Errorf("%s: %v%s", name, err, repairtest.Told(plan))
			continue
		}
		var found []string
		for _, f := range plan.Findings {
			found = append(found, f.Rule.ID)
		}
		if slices.Sort(found); strings.Join(found, " ") != tc.rules {
			t.Errorf("%s: after the repair %q", name, found)
		}
		repairtest.Idle(t, path, name)
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
