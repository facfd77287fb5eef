package crush_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/crush"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// stored are the rows of sessions and messages, in their order, without the times that
// triggers set.
func stored(t storetest.Tester, path string) []string {
	t.Helper()
	newer := "''"
	if has := storetest.Query(t, path, "select name from pragma_table_info('messages') where name = 'is_summary_message'"); len(has) > 0 {
		newer = has[0]
	}
	return storetest.Query(t, path,
		"select 'session ' || quote(id) || quote(parent_session_id) || quote(title) || message_count || quote(summary_message_id) || created_at from sessions order by rowid",
		"select 'message ' || quote(id) || quote(session_id) || role || quote(parts) || quote(model) || created_at || quote(finished_at) || "+newer+" from messages order by rowid")
}

// fresh is what differs between two repairs of one database: ids of new rows, and texts.
var fresh = regexp.MustCompile(`message '[0-9a-f-]{36}'|"content":"(\[sessctl\]|The tool call was)[^"]*"`)

func TestRecordedPairs(t *testing.T) { repairtest.Pairs(t, corpus, stored, fresh) }

// TestRepairs damages a database that is whole, one way at a time, and looks at what a
// repair writes.
func TestRepairs(t *testing.T) {
	for _, tt := range []struct {
		name, from, damage string
		find               string // what is found
		same               bool   // the repair leads back to the rows that there were
		query              string // else what is looked at
		want               string
	}{
		{name: "parent gone", from: "agent", damage: "update sessions set parent_session_id = 'gone' where parent_session_id is not null", find: "info SC705 ", same: true},
		{name: "summary gone", from: "compaction", damage: "update sessions set summary_message_id = 'gone'", find: "warning SC012 ", same: true},
		{name: "summary gone, and there is none", from: "tools", damage: "update sessions set summary_message_id = 'gone'", find: "warning SC012 ", same: true},
		{name: "broken summary", from: "compaction", damage: "update messages set parts = substr(parts, 1, 20) where id = (select summary_message_id from sessions)", find: "error SC010 ",
			query: "select count(*) from sessions where summary_message_id is not null", want: "0"},
		{name: "result late", from: "tools", damage: "update messages set created_at = created_at + 9 where parts like '%\"tool_call_id\":\"call_t_0_2\"%'", find: "error SC104 call_t_0_2",
			query: "select group_concat(json_extract(parts, '$[0].data.tool_call_id') || ' ' || created_at) from (select * from messages where role = 'tool' order by created_at, rowid)",
			want:  "call_t_0_0 1795355138,call_t_0_1 1795355138,call_t_0_2 1795355138"},
		{name: "result early", from: "tools", damage: "update messages set created_at = created_at - 9 where parts like '%\"tool_call_id\":\"call_t_0_0\"%'", find: "error SC105 call_t_0_0",
			query: "select group_concat(role) from (select role from messages order by created_at, rowid)", want: "user,assistant,tool,tool,tool,assistant"},
		{name: "result of no time", from: "tools", damage: "update messages set created_at = 0 where parts like '%\"tool_call_id\":\"call_t_0_0\"%'", find: "error SC105 call_t_0_0",
			query: "select group_concat(role) from (select role from messages order by created_at, rowid)", want: "user,assistant,tool,tool,tool,assistant"},
		{name: "result twice", from: "tools", damage: "insert into messages (id, session_id, role, parts, model, created_at, updated_at) select 'again', session_id, role, parts, model, created_at, updated_at from messages where parts like '%\"tool_call_id\":\"call_t_0_1\"%'",
			find: "error SC106 call_t_0_1", same: true},
		{name: "result lost in the middle", from: "tools", damage: "delete from messages where parts like '%\"tool_call_id\":\"call_t_0_1\"%'", find: "warning SC101 call_t_0_1",
			query: "select group_concat(role || created_at) from (select role, created_at from messages order by created_at, rowid)",
			want:  "user1795355138,assistant1795355138,tool1795355138,tool1795355138,tool1795355138,assistant1795355138"},
		{name: "broken parts", from: "tools", damage: "update messages set parts = substr(parts, 1, 40) where parts like '%\"tool_call_id\":\"call_t_0_1\"%'", find: "error SC010 ",
			query: "select count(*) || ' ' || sum(json_valid(parts)) || ' ' || (select message_count from sessions) from messages", want: "6 6 6"},
		{name: "result without call", from: "tools", damage: "insert into messages (id, session_id, role, parts, model, created_at, updated_at) select 'odd', session_id, role, replace(parts, 'call_t_0_1', 'call_none'), model, created_at, updated_at from messages where parts like '%\"tool_call_id\":\"call_t_0_1\"%'",
			find: "warning SC103 call_none", same: true},
		{name: "result of a sub-session lost", from: "agent", damage: "delete from messages where role = 'tool' and parts like '%\"name\":\"agent\"%'", find: "error SC716 call_d1_0_0",
			query: "select json_extract(parts, '$[0].data.content') || json_extract(parts, '$[0].data.is_error') from messages where parts like '%\"tool_call_id\":\"call_d1_0_0\"%'", want: "It is 42.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			before := stored(t, path)
			storetest.Change(t, path, tt.damage)
			if found := storetest.Findings(t, path); !slices.Contains(found, tt.find) {
				t.Errorf("found %q", found)
			}
			if tt.query == "" {
				tt.query = "select ''"
			}
			repaired, got := repairtest.Twice(t, path, stored, tt.query)
			if diff := cmp.Diff(before, repaired); tt.same && diff != "" {
				t.Error(diff)
			}
			if got[0] != tt.want {
				t.Errorf("%s gives %s, want %s", tt.query, got, tt.want)
			}
		})
	}
}

// TestLock: Crush 0.74 and later lock a file beside the database while they run. Whoever
// holds that lock is at work, whatever is written there, and a repair holds it.
func TestLock(t *testing.T) {
	path := corpus.Copy(t, "killed-tool")
	lock := filepath.Join(filepath.Dir(path), "crush.lock")
	if err := os.WriteFile(lock, []byte(`{"pid":1,"version":"0.74.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	release, _ := atomicfile.HoldLock(lock)
	if second, taken := atomicfile.HoldLock(lock); !taken {
		second()
		t.Skip("this system has no such locks")
	}
	if found := storetest.Findings(t, path); !slices.Contains(found, "info SC102 call_k_0_0") {
		t.Errorf("while Crush runs: %q", found)
	}
	if ed, err := crush.Kind.Edit(t.Context(), registry.ToEdit(path)); problem.ClassOf(err) != problem.Busy {
		t.Errorf("got %v, %v", ed, err)
	}
	release()
	ed, err := crush.Kind.Edit(t.Context(), registry.ToEdit(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, taken := atomicfile.HoldLock(lock); !taken {
		t.Error("a repair does not hold the lock")
	}
	if err := ed.Close(); err != nil {
		t.Fatal(err)
	}
	repairtest.Twice(t, path, stored)
}

// TestOddTimes: where a time is no number of seconds, what would have to stand beside it is
// left out of a repair, and the rest is made.
func TestOddTimes(t *testing.T) {
	for _, odd := range []string{"'x'", "x'31'", "9000000000000000000", "0", "-1", "1.5", "'\"x\"'"} {
		for _, of := range []string{"role = 'assistant'", `parts like '%"tool_call_id":"call_t_0_1"%'`, "role = 'user'"} {
			path := corpus.Copy(t, "tools")
			storetest.Change(t, path, "update messages set created_at = "+odd+" where "+of, `delete from messages where parts like '%"tool_call_id":"call_t_0_2"%'`)
			plan, _, err := repairtest.Repair(path)
			if err != nil {
				t.Fatalf("%s, %s: %v%s", odd, of, err, repairtest.Told(plan))
			}
			repairtest.Idle(t, path, odd+", "+of+repairtest.Told(plan))
		}
	}
}

// TestUndoIsExact: whatever a repair changes, and the triggers of Crush with it, an undo gives
// back every value of every table that there was, the rows' numbers and the times included.
func TestUndoIsExact(t *testing.T) {
	for _, name := range corpus.Names(t) {
		for _, damage := range []string{
			"select 1", // what there is to repair already
			"update sessions set summary_message_id = 'gone'",
			"update messages set parts = substr(parts, 1, 20) where rowid = (select max(rowid) from messages)",
			"update messages set created_at = created_at + 9 where rowid = (select min(rowid) from messages where role = 'tool')",
			"delete from messages where role = 'tool'; update sessions set message_count = 0",
		} {
			t.Run(name+" "+damage, func(t *testing.T) {
				path := corpus.Copy(t, name)
				storetest.Change(t, path, damage)
				before := storetest.Dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil {
					t.Fatalf("%v%s", err, repairtest.Told(plan))
				}
				if receipt == nil {
					t.Skip("nothing to repair")
				}
				var others []string // whose rows nothing of it moves
				for _, line := range before {
					repaired := func(b *repair.Batch) bool {
						return slices.ContainsFunc(b.Sessions, func(s repair.Touched) bool { return strings.Contains(line, "'"+s.ID+"'") })
					}
					if strings.HasPrefix(line, "sessions ") && !slices.ContainsFunc(receipt.Batches, repaired) {
						others = append(others, line)
					}
				}
				now := storetest.Dump(t, path)
				if changed := slices.DeleteFunc(others, func(line string) bool { return slices.Contains(now, line) }); len(changed) > 0 {
					t.Errorf("the repair changed %q", changed)
				}
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Errorf("after undo: %s", diff)
				}
			})
		}
	}
}

// TestForeignTriggers: what somebody's trigger does besides is no part of a repair that could
// not be undone to the last value.
func TestForeignTriggers(t *testing.T) {
	const damage = `delete from messages where parts like '%"tool_call_id":"call_t_0_1"%'`
	refused := 0
	for _, event := range []string{"insert", "update", "delete"} {
		for _, of := range []string{"sessions", "messages"} {
			for _, effect := range []string{"select 1", "update sessions set title = title || '!'", "update messages set updated_at = 1", "select raise(abort, 'no')", "insert into beside values (1)"} {
				path := corpus.Copy(t, "tools")
				storetest.Change(t, path, damage, "create table beside(x)", "create trigger strange after "+event+" on "+of+" begin "+effect+"; end")
				before := storetest.Dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil && problem.ClassOf(err) != problem.RolledBack {
					t.Fatalf("%s, %s, %s: %v%s", event, of, effect, err, repairtest.Told(plan))
				}
				if receipt == nil {
					refused++
				} else if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Errorf("%s, %s, %s: %v", event, of, effect, err)
				}
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Errorf("%s, %s, %s: after undo: %s", event, of, effect, diff)
				}
			}
		}
	}
	t.Log(refused, "refused")
}

// TestForeignTriggersOfASessionOfThisSecond: what somebody's trigger would do to an undo is
// seen before the repair even where the session's time would be the same again.
func TestForeignTriggersOfASessionOfThisSecond(t *testing.T) {
	path := corpus.Copy(t, "tools")
	storetest.Change(t, path, "create trigger strange after insert on sessions begin update messages set updated_at = 1; end",
		`delete from messages where parts like '%"tool_call_id":"call_t_0_1"%'`,
		"update sessions set updated_at = strftime('%s', 'now')")
	plan, receipt, err := repairtest.Repair(path)
	if problem.ClassOf(err) != problem.RolledBack || receipt != nil {
		t.Errorf("repaired, which no undo could take back a second later: %v%s", err, repairtest.Told(plan))
	}
}

// TestNotUTF8: what is no UTF-8 in a message or a title is told, and a repair of something
// else leaves it as it is.
func TestNotUTF8(t *testing.T) {
	path := corpus.Copy(t, "tools")
	storetest.Change(t, path,
		"update messages set parts = cast(replace(cast(parts as blob), cast('All' as blob), x'41ff6c') as text)",
		"update sessions set title = cast(x'54ff' as text)")
	if diff := cmp.Diff([]string{"info SC606 ", "warning SC606 "}, storetest.Findings(t, path)); diff != "" {
		t.Error(diff)
	}
	repairtest.Idle(t, path, "")
	storetest.Change(t, path, `delete from messages where parts like '%"tool_call_id":"call_t_0_1"%'`)
	if _, answers := repairtest.Twice(t, path, stored, "select count(*) from messages where instr(cast(parts as blob), x'41ff6c')"); answers[0] != "1" {
		t.Errorf("%s messages have the bytes", answers[0])
	}
}
