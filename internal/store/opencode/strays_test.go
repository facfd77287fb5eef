package opencode_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// ways are how the messages of a sub-agent get into another session: statements for a list of
// ids of messages and the id of the session.
var ways = map[string]func(of, into string) []string{
	"moved": func(of, into string) []string {
		return []string{
			"update message set session_id = " + into + " where id in " + of,
			"update part set session_id = " + into + " where message_id in " + of,
		}
	},
	"moved without their parts": func(of, into string) []string {
		return []string{"update message set session_id = " + into + " where id in " + of}
	},
	"their parts alone": func(of, into string) []string {
		return []string{"update part set session_id = " + into + " where message_id in " + of}
	},
	"copied": func(of, into string) []string {
		return []string{
			"insert into message select id || 'X', " + into + ", time_created, time_updated, data from message where id in " + of,
			"insert into part select id || 'X', message_id || 'X', " + into + ", time_created, time_updated, data from part where message_id in " + of,
		}
	},
	"copied, with the ids that the copies answer": func(of, into string) []string {
		return []string{
			"insert into message select id || 'X', " + into + ", time_created, time_updated, case when json_extract(data, '$.parentID') in " + of + " then json_set(data, '$.parentID', json_extract(data, '$.parentID') || 'X') else data end from message where id in " + of,
			"insert into part select id || 'X', message_id || 'X', " + into + ", time_created, time_updated, data from part where message_id in " + of,
		}
	},
}

// variants are changes of recorded databases that lead to other healthy ones: NAME=VARIANT.
var variants = map[string][]string{
	"": nil,
	// The caller's user asks again, and the same sub-agent goes on.
	"again": {
		"insert into message select replace(id, 'msg_', 'msg_3'), session_id, time_created + 1000000, time_updated + 1000000, json_set(data, '$.time.created', time_created + 1000000, '$.time.completed', time_updated + 1000000, '$.parentID', replace(json_extract(data, '$.parentID'), 'msg_', 'msg_3')) from message where data like '%parentID%'",
		"insert into message select replace(id, 'msg_', 'msg_3'), session_id, time_created + 1000000, time_updated + 1000000, json_set(data, '$.time.created', time_created + 1000000) from message where data not like '%parentID%'",
		"insert into part select replace(id, 'prt_', 'prt_3'), replace(message_id, 'msg_', 'msg_3'), session_id, time_created + 1000000, time_updated + 1000000, data from part",
		"update part set data = json_set(data, '$.callID', 'again' || json_extract(data, '$.callID'), '$.state.time.start', json_extract(data, '$.state.time.start') + 1000000, '$.state.time.end', json_extract(data, '$.state.time.end') + 1000000) where id like 'prt_3%' and data like '%callID%'",
	},
	// Sub-agents are of their caller's own agent.
	"own agent": {
		"update session set title = replace(title, '@general', '@build')",
		"update message set data = json_set(data, '$.agent', 'build', '$.mode', 'build') where data like '%parentID%'",
		"update message set data = json_set(data, '$.agent', 'build')",
		"update part set data = json_set(data, '$.state.input.subagent_type', 'build') where data like '%subagent_type%'",
	},
	// The calls do not tell which sub-session they started.
	"unnamed": {"update part set data = json_remove(data, '$.state.metadata') where data like '%subagent_type%'"},
	// All sub-agents have one task.
	"one task": {
		"update part set data = json_set(data, '$.state.input.prompt', 'Do it') where data like '%subagent_type%'",
		"update part set data = json_set(data, '$.text', 'Do it') where message_id in (select m.id from message m join session s on s.id = session_id where parent_id is not null and m.data like '%\"user\"%')",
	},
}

// TestEverySubset: any messages of sub-agents that are stored in their caller's session are
// found and go back, or are left with a reason. No result is made up for one, and none leaves
// but a copy.
func TestEverySubset(t *testing.T) {
	n, done, left, stride := 0, 0, 0, campaign.Stride(29, 1)
	for _, name := range []string{
		"task", "task=again", "task=own agent", "task=unnamed", "task-parallel", "task-parallel=one task", "task-parallel=unnamed",
		"killed-child", "killed-child-resumed", "killed-nested", "aborted-child",
	} {
		of, variant, _ := strings.Cut(name, "=")
		made := func() string {
			path := corpus.Copy(t, of)
			storetest.Change(t, path, variants[variant]...)
			return path
		}
		model := made()
		if found := storetest.Findings(t, model); slices.ContainsFunc(found, func(f string) bool {
			return strings.Contains(f, "SC70") && f != "info SC707 call_task1_0_0" && f != "warning SC705 "
		}) {
			t.Errorf("%s: found %q", name, found)
		}
		_, healthy, err := repairtest.Repair(model)
		if err != nil {
			t.Fatal(err)
		}
		want, invented := stored(t, model), 0
		if healthy != nil {
			invented = healthy.Ledger.Synthetic
		}
		ids := storetest.Query(t, model, "select quote(m.id) from message m join session s on s.id = m.session_id where parent_id is not null order by m.time_created, m.id")
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			for set := 1; set < 1<<len(ids); set++ {
				if n++; n%stride != 0 {
					continue
				}
				var chosen []string
				for i, id := range ids {
					if set>>i&1 == 1 {
						chosen = append(chosen, id)
					}
				}
				at, path := fmt.Sprintf("%s, %s, %0*b", name, way, len(ids), set), made()
				storetest.Change(t, path, ways[way]("("+strings.Join(chosen, ",")+")", "(select id from session where parent_id is null)")...)
				before := stored(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil {
					t.Errorf("%s: %v%s", at, err, repairtest.Told(plan))
					continue
				}
				if done++; !slices.Equal(stored(t, path), want) {
					left++
					if !slices.ContainsFunc(plan.Findings, func(f *check.Finding) bool { return f.Rule.ID == "SC702" || f.Rule.ID == "SC016" }) {
						t.Errorf("%s: not as before, and nothing is said%s", at, repairtest.Told(plan))
					}
				}
				if receipt == nil {
					continue
				}
				if l := receipt.Ledger; l.Synthetic > invented || l.Quarantined > 0 && !strings.Contains(way, "copied") {
					t.Errorf("%s: %+v%s", at, l, repairtest.Told(plan))
				}
				if _, r, err := repairtest.Repair(path); err != nil || r != nil {
					t.Errorf("%s: behind %s\na second repair has something to do: %v", at, repairtest.Told(plan), err)
				} else if _, err := repairtest.Undo(path, receipt.Path()); err != nil || !slices.Equal(stored(t, path), before) {
					t.Errorf("%s: the undo: %v", at, err)
				}
			}
		}
	}
	t.Logf("%d subsets, %d left with a reason", done, left)
}
