package adk_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestLaterVersions reads databases as releases may write them that do not exist yet. All
// are read; they are repaired where what a repair writes is known, and undone.
func TestLaterVersions(t *testing.T) {
	const metadata = "create table if not exists adk_internal_metadata(key text primary key, value text)"
	for name, tc := range map[string]struct {
		statements []string
		says       string // SC002; "" where it has nothing to say
		repaired   bool
	}{
		"as it is":                     {nil, "", true},
		"an index":                     {[]string{"create index later on events(invocation_id)"}, "", true},
		"a table of the application's": {[]string{"create table orders(id text)"}, "", true},
		"a table that names sessions": {
			[]string{"create table bookmarks(session_id text)", "insert into bookmarks select id from sessions"}, "", true,
		},
		"a column that no event uses": {
			[]string{"alter table events add column mood text"},
			`info Its tables are not those of a release that sessctl knows. Sessions and events were read; not read: column "mood" of events. ` +
				"A repair is safe: it changes only what sessctl knows", true,
		},
		"a column that has its default": {[]string{"alter table events add column mood text not null default 'calm'"}, "info Its tables", true},
		"a column that events use": {
			[]string{"alter table events add column turn integer", "update events set turn = rowid"},
			`warning Its tables are not those of a release that sessctl knows. Sessions and events were read; not read: column "turn" of events. ` +
				"You can check, view and export it. It is not repaired: " +
				`sessctl does not know what column "turn" of events means for its rows`, false,
		},
		"a column that sessions use": {[]string{"alter table sessions add column revision integer not null default 0", "update sessions set revision = 3"}, "warning Its tables", false},
		"a table that refers to events": {
			[]string{"create table feedback(event text, app text, user text, session text, foreign key(event, app, user, session) " +
				"references events(id, app_name, user_id, session_id) on delete cascade)"},
			`table "feedback" refers to rows of events`, false,
		},
		"a version": {
			[]string{metadata, "insert or replace into adk_internal_metadata values('schema_version', '2')"},
			`warning Its schema has version "2", and sessctl knows versions 0 and 1. Sessions and events were read. ` +
				"You can check, view and export it. It is not repaired: sessctl does not know what else that version changed", false,
		},
	} {
		for _, g := range []adktest.Generation{adktest.P1, adktest.G2} {
			if name == "a version" && g != adktest.P1 {
				continue // no other generation has one
			}
			t.Run(name+"/"+string(g), func(t *testing.T) {
				path := created(t, g, adktest.Script("interrupted"))
				execute(t, path, tc.statements...)
				before := dump(t, path)
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
				if !strings.Contains(told(plan), "SC101") {
					t.Errorf("the call without a result was not found:\n%s", told(plan))
				}
				if receipt != nil {
					stable(t, path, before, receipt)
				} else if dump(t, path) != before {
					t.Error("the store changed")
				}
			})
		}
	}
}

// TestLaterMembers: a member that nobody knows stays in its document, through a repair
// that changes the document, and no new event has one.
func TestLaterMembers(t *testing.T) {
	for _, g := range []adktest.Generation{adktest.P1, adktest.PS} {
		path := created(t, g, adktest.Script("interrupted"), adktest.Script("ties"))
		execute(t, path, `update events set event_data = json_set(event_data, '$.mood', json('{"deep":[1]}'), '$.actions.later', 7)`)
		before, stored := dump(t, path), query(t, path, "select count(*) from events")[0][0]
		_, receipt, err := repairtest.Repair(path)
		if err != nil || receipt == nil {
			t.Fatalf("%s: nothing was repaired: %v", g, err)
		}
		counts := query(t, path, `select count(*), sum(json_extract(event_data, '$.mood.deep[0]') = 1 and json_extract(event_data, '$.actions.later') = 7) from events`)[0]
		if counts[1] != stored {
			t.Errorf("%s: %s of %s events have the members, %s had them", g, counts[1], counts[0], stored)
		}
		stable(t, path, before, receipt)
	}
}
