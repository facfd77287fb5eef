package dockeragent_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// A sum changes with what it covers, and with nothing else.
func TestSums(t *testing.T) {
	tests := []struct {
		name, sql string
		want      string // the records and items that change
	}{
		{"nothing", "", ""},
		{"text", "update session_items set message_json = replace(message_json, 'thanks', 'Thanks') where id = 9", "record P, item 9"},
		{"type of a value", "update sessions set working_dir = cast(working_dir as blob) where id = 'C'", "record C"},
		{"NULL for nothing", "update session_items set agent_name = null where id = 1", "record P"},
		{"title", "update sessions set title = 'x' where id = 'P'", "record P"},
		{"position", "update session_items set position = 9 where id = 9", "record P"},
		{"agent", "update session_items set agent_name = 'x' where id = 5", "record C"},
		{"implicit", "update session_items set implicit = 0 where id = 4", "record C, item 4"},
		{"reference", "update session_items set subsession_id = null where id = 6", "record P, item 6"},
		{"move", "update session_items set session_id = 'C' where id = 9", "record C, record P"},
		{"row that goes", "delete from session_items where id = 9", "record P, item 9"},
		{"row that comes", "insert into session_items(session_id, position, item_type) values ('C', 9, 'summary')", "record C, item 10"},
		{"session that goes", "delete from session_items where session_id = 'C'; delete from sessions where id = 'C'", "record C, record P, item 3, item 4, item 5, item 6"},
		{"child that comes", "insert into sessions(id, parent_id) values ('D', 'C')", "record C"},
		{"other session", "insert into sessions(id) values ('D')", ""},
		{"old column", "update sessions set messages = '[]'", "exactly C, exactly P"},
		{"place of a branch", "update sessions set branch_parent_position = 4", "exactly C, exactly P"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, 18, writeDelegation)
			before := sumsIn(t, path)
			db := openSQL(t, path)
			if _, err := db.Exec("pragma foreign_keys = on; " + tt.sql); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(differences(before, sumsIn(t, path)), ", "); got != tt.want {
				t.Errorf("%q changed, want %q", got, tt.want)
			}
		})
	}
}

// sumsIn are the sums of the sessions of writeDelegation.
func sumsIn(t *testing.T, path string) map[string]store.Sum {
	t.Helper()
	e := begin(t, path)
	sums := sumsOf(t, e, []string{"P", "C", "absent"})
	if sums["absent"].Record != "" || len(sums) != 3 {
		t.Errorf("a session that does not exist has the sum %v", sums["absent"])
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return sums
}

func differences(before, after map[string]store.Sum) []string {
	var list []string
	items := [2]map[string]string{{}, {}}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if before[id].Record != after[id].Record {
			list = append(list, "record "+id)
		} else if before[id].Exact != after[id].Exact {
			list = append(list, "exactly "+id)
		}
		if before[id].Record != after[id].Record && before[id].Exact == after[id].Exact {
			list = append(list, "record alone "+id)
		}
		maps.Copy(items[0], before[id].Items)
		maps.Copy(items[1], after[id].Items)
	}
	for n := range 20 {
		if key := fmt.Sprint(n); items[0][key] != items[1][key] {
			list = append(list, "item "+key)
		}
	}
	return list
}

// What is read of some trees is what is read of the whole store.
func TestReadOfSomeTrees(t *testing.T) {
	campaign.ShowsNoRace(t)
	for generation := 14; generation <= 29; generation++ {
		path := built(t, generation, func(db *agenttest.DB) {
			for seed := range uint64(6) {
				if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 14)); err != nil {
					t.Fatal(err)
				}
			}
			db.Sync()
			if generation < 20 { // one session that only its column holds
				if _, err := db.SQL.Exec("delete from session_items where session_id = (select min(id) from sessions where parent_id is null)"); err != nil {
					t.Fatal(err)
				}
			}
		})
		all := stored(t, path)
		e := begin(t, path)
		for _, tree := range all {
			if diff := diffTrees(tree, reread(t, e, append(idsOf(tree), "absent"))); diff != "" {
				t.Errorf("generation %d (-whole store +some trees):\n%s", generation, diff)
			}
		}
		if got := reread(t, e, nil); len(got.Sessions) > 0 {
			t.Errorf("no session was asked for, and %d were read", len(got.Sessions))
		}
	}
}
