package opencode_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// stored are the rows of the tables that a repair may change, and what it must not change.
func stored(t storetest.Tester, path string) []string {
	t.Helper()
	return storetest.Query(t, path,
		"select 'session ' || quote(id) || quote(parent_id) || quote(title) || quote(revert) || time_created || ' ' || time_updated from session order by id",
		"select 'message ' || quote(id) || quote(session_id) || quote(data) || time_created || ' ' || time_updated from message order by id",
		"select 'part ' || quote(id) || quote(message_id) || quote(session_id) || quote(data) || time_created || ' ' || time_updated from part order by id",
		"select 'draft ' || quote(id) || quote(session_id) || quote(data) || seq from session_message order by id",
		"select 'events ' || count(*) || quote(max(seq)) from event",
	)
}

// placeholder is the text that a repair gives a call.
var placeholder = regexp.MustCompile(`"error":"(\[sessctl\]|The tool call was)[^"]*"`)

func TestRecordedPairs(t *testing.T) { repairtest.Pairs(t, corpus, stored, placeholder) }

// TestHalfMoved: a message that nothing but its parts says to be of another session is
// told of, and stays where opencode reads it.
func TestHalfMoved(t *testing.T) {
	path := corpus.Copy(t, "task")
	storetest.Change(t, path, "update part set session_id = (select id from session where parent_id is not null)")
	found := storetest.Findings(t, path)
	if !slices.Contains(found, "warning SC016 ") {
		t.Errorf("found %q", found)
	}
	if plan, _, err := repairtest.Plan(path); err != nil || !plan.IsEmpty() {
		t.Errorf("%v, %+v", err, plan)
	}
}

// TestAnswerToNothing: answers to a message that is gone are told of once, and stay: opencode
// sends them.
func TestAnswerToNothing(t *testing.T) {
	path := corpus.Copy(t, "tools")
	storetest.Change(t, path, "update message set data = json_set(data, '$.parentID', 'msg_gone') where data like '%\"assistant\"%'")
	if found := storetest.Findings(t, path); !slices.Equal(found, []string{"info SC021 "}) {
		t.Errorf("found %q", found)
	}
	repairtest.Idle(t, path, "")
}

// TestCrossed: where an earlier call of a message has the id of a later one that has a
// result, nobody can tell by their order which call a result is of. What cannot be written
// so is left out, and the rest of the session is repaired.
func TestCrossed(t *testing.T) {
	path := corpus.Copy(t, "tools")
	storetest.Change(t, path,
		"update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running') where id in (select id from part where data like '%\"type\":\"tool\"%' order by id limit 2)",
		"update part set data = json_set(data, '$.callID', 'call_tools_0_0') where id = (select max(id) from part where data like '%\"type\":\"tool\"%')",
		"update message set data = json_remove(data, '$.time.completed') where id = (select message_id from part where data like '%\"type\":\"tool\"%')")
	_, got := repairtest.Twice(t, path, stored, "select group_concat(json_extract(data, '$.callID') || ' ' || json_extract(data, '$.state.status')) from (select data from part where data like '%\"type\":\"tool\"%' order by id)")
	if want := "call_tools_0_0 running,call_tools_0_1 running,call_tools_0_0 error"; got[0] != want {
		t.Errorf("got %s, want %s", got[0], want)
	}
}

// TestFailed: of an answer that ended with an error, opencode sends neither calls nor their
// results.
func TestFailed(t *testing.T) {
	path := corpus.Copy(t, "tools")
	storetest.Change(t, path, `update message set data = json_set(json_remove(data, '$.finish'), '$.error', json('{"name":"APIError","data":{"message":"no"}}')) where id = (select message_id from part where data like '%"type":"tool"%')`)
	if found := storetest.Findings(t, path); slices.ContainsFunc(found, func(f string) bool { return !strings.HasPrefix(f, "info") }) {
		t.Errorf("found %q", found)
	}
}

// TestOwn: messages that only look like those of a sub-agent stay.
func TestOwn(t *testing.T) {
	const root = "(select id from session where parent_id is null)"
	prompt := func(agent, at string) []string {
		return []string{
			"insert into message (id, session_id, time_created, time_updated, data) select 'msg_own', " + root + ", " + at + ", " + at + ", json_set(data, '$.agent', '" + agent + "') from message where data like '%\"user\"%' and session_id <> " + root,
			"insert into part (id, message_id, session_id, time_created, time_updated, data) select 'prt_own', 'msg_own', " + root + ", " + at + ", " + at + ", data from part where data like '%Please do it%' and data like '{\"type\":\"text\"%'",
		}
	}
	while := "(select json_extract(data, '$.state.time.start') + 9 from part where id = " + taskPart + ")"
	after := "(select json_extract(data, '$.state.time.end') + 9 from part where id = " + taskPart + ")"
	for name, damage := range map[string][]string{
		"":                                    prompt("general", while), // nothing but a sub-agent's task is like this
		"said by a person while the call ran": prompt("build", while),
		"said to the sub-agent when it had ended":                        prompt("general", after),
		"answer to a message that there is not, when the call had ended": {"update message set data = json_set(data, '$.parentID', 'msg_gone') where session_id = " + root + " and data like '%assistant%'"},
		"answer to a message that is a fork's":                           {"update message set session_id = (select id from session where parent_id is not null) where session_id = " + root + " and data like '%\"user\"%'", "update part set data = json_set(data, '$.state.metadata.sessionId', 'ses_gone') where id = " + taskPart},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, "task")
			storetest.Change(t, path, damage...)
			if found := storetest.Findings(t, path); slices.Contains(found, "error SC702 ") != (name == "") {
				t.Errorf("found %q", found)
			}
		})
	}
}

// TestNextAnswer: an answer of the caller ends a call whose end is not known, so that what a
// later sub-agent said is not taken for that of the first one.
func TestNextAnswer(t *testing.T) {
	ask := func(about string) player.Step {
		return player.Step{Calls: []player.Call{{Tool: "agent", Args: `{"prompt":"` + about + `"}`, Child: player.Program{{Prompt: about, Steps: []player.Step{{Calls: []player.Call{{Tool: "bash", Args: "{}", Result: "42"}}}, {Text: "about " + about}}}}}}}
	}
	path := filepath.Join(t.TempDir(), "opencode.db")
	if err := opencodetest.Build(path, player.Play(player.Program{{Prompt: "Go on", Steps: []player.Step{ask("a"), ask("b"), {Text: "Done."}}}}, 1)); err != nil {
		t.Fatal(err)
	}
	const answer = "(select message_id from part where data like '%\"about b\"%')"
	storetest.Change(t, path,
		"update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running') where id = (select min(id) from part where data like '%\"tool\":\"task\"%')",
		"create table home as select session_id from message where id = "+answer,
		"update message set session_id = (select id from session where parent_id is null) where id = "+answer)
	if _, got := repairtest.Twice(t, path, stored, "select session_id = (select session_id from home) from message where id = "+answer); got[0] != "1" {
		t.Error("the answer is not in its own session")
	}
}

// TestLostCall: a call without an end does not take what another sub-agent stored whose call
// is gone. What the message answers tells whose it is; where that is gone, too, the message
// stays, and a repair says so.
func TestLostCall(t *testing.T) {
	ask := func(about string) player.Step {
		return player.Step{Calls: []player.Call{{Tool: "agent", Args: `{"prompt":"` + about + `"}`, Child: player.Program{{Prompt: about, Steps: []player.Step{{Text: "about " + about}}}}}}}
	}
	both := ask("a")
	both.Calls = append(both.Calls, ask("b").Calls...)
	const (
		answer = "(select message_id from part where data like '%\"about b\"%' and data like '{\"type\":\"text\"%')"
		call   = "(select id from part where data like '%\"tool\":\"task\"%' and data like '%\"prompt\":\"' || ? || '\"%')"
	)
	of := func(about string) string { return strings.ReplaceAll(call, "?", "'"+about+"'") }
	for name, tt := range map[string]struct{ damage, want string }{
		"the question is there": {"select 1", "the sub-session"},
		"it is gone":            {"update message set data = json_set(data, '$.parentID', 'msg_gone') where id = " + answer, "the caller"},
	} {
		path := filepath.Join(t.TempDir(), "opencode.db")
		if err := opencodetest.Build(path, player.Play(player.Program{{Prompt: "Go on", Steps: []player.Step{both, {Text: "Done."}}}}, 1)); err != nil {
			t.Fatal(err)
		}
		storetest.Change(t, path,
			"update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running') where id = "+of("a"),
			"create table home as select session_id from message where id = "+answer,
			"update message set session_id = (select id from session where parent_id is null) where id = "+answer,
			"delete from part where id = "+of("b"), tt.damage)
		_, got := repairtest.Twice(t, path, stored, "select case when session_id = (select session_id from home) then 'the sub-session' when session_id = (select id from session where parent_id is null) then 'the caller' else 'another' end from message where id = "+answer)
		if got[0] != tt.want {
			t.Errorf("%s: the answer is in %s, want %s", name, got[0], tt.want)
		}
	}
}

// TestEmptySummary: without its summary all that it covered is sent again, and is repaired, too.
func TestEmptySummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	program := player.Program{
		{Prompt: "Go on", Steps: []player.Step{
			{Calls: []player.Call{{Tool: "agent", Args: `{"prompt":"a"}`, Child: player.Program{{Prompt: "a", Steps: []player.Step{{Text: "about a"}}}}}}},
			{Text: "Done."},
		}},
		{Prompt: "Sum up", Steps: []player.Step{{Text: "the summary", Compacts: true}}},
		{Prompt: "And now", Steps: []player.Step{{Text: "More."}}},
	}
	if err := opencodetest.Build(path, player.Play(program, 1)); err != nil {
		t.Fatal(err)
	}
	storetest.Change(t, path,
		"update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running') where id = "+taskPart,
		"update part set data = json_set(data, '$.text', '') where data like '%\"the summary\"%'")
	_, got := repairtest.Twice(t, path, stored, "select json_extract(data, '$.state.status') from part where id = "+taskPart)
	if got[0] != "completed" {
		t.Errorf("the call is %s", got[0])
	}
}

// taskPart is the part of the call that started the sub-session of the recorded database.
const taskPart = "(select id from part where data like '%\"tool\":\"task\"%')"

// moved are the statements that put the messages of each sub-session into its parent, from
// one number up to another.
func moved(from, to int) []string {
	of := fmt.Sprintf("(select id from (select m.id, row_number() over (partition by session_id order by m.time_created, m.id) - 1 as nth from message m join session s on s.id = session_id where parent_id is not null) where nth >= %d and nth < %d)", from, to)
	return []string{
		"update part set session_id = (select parent_id from session s where s.id = session_id) where message_id in " + of,
		"update message set session_id = (select parent_id from session s where s.id = session_id) where id in " + of,
	}
}

// sameTime is the statement that gives the messages of a sub-session one time, and
// rolesOfChild asks who said them.
var sameTime = []string{"update message set time_created = (select min(time_created) from message of where of.session_id = message.session_id) where session_id = (select id from session where parent_id is not null)"}

const rolesOfChild = "select group_concat(role) from (select json_extract(data, '$.role') as role from message where session_id = (select id from session where parent_id is not null) order by time_created, id)"

// TestRepairs damages a recorded database, one way at a time, and looks at what a repair
// writes.
func TestRepairs(t *testing.T) {
	for _, tt := range []struct {
		name, from string
		damage     []string
		find       string // what is found
		same       bool   // the repair leads back to the rows that there were
		query      string // else what is looked at
		want       string
	}{
		{name: "result of a finished sub-session lost", from: "task", damage: []string{
			"update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running') where id = " + taskPart,
		}, find: "error SC716 call_task1_0_0",
			query: "select json_extract(data, '$.state.output') from part where id = " + taskPart,
			want:  "<task id=\"ses_dfc8edd2effe5K5P6Hc3EQhkHc\" state=\"completed\">\n<task_result>\nIt is 42.\n</task_result>\n</task>"},
		{name: "two calls of a message with one id", from: "tools", damage: []string{
			"update part set data = json_set(data, '$.callID', (select json_extract(data, '$.callID') from part where data like '%\"type\":\"tool\"%' order by id limit 1)) where id = (select id from part where data like '%\"type\":\"tool\"%' order by id limit 1 offset 1)",
		}, find: "error SC201 call_tools_0_0",
			query: "select group_concat(json_extract(data, '$.callID')) from (select data from part where data like '%\"type\":\"tool\"%' order by id)", want: "call_tools_0_0,call_tools_0_0_dup1,call_tools_0_2"},
		{name: "two open calls of a message with one id", from: "tools", damage: []string{
			"update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running', '$.callID', 'call_same') where id in (select id from part where data like '%\"type\":\"tool\"%' order by id limit 2)",
		}, find: "error SC201 call_same",
			query: "select group_concat(json_extract(data, '$.callID') || ' ' || json_extract(data, '$.state.status')) from (select data from part where data like '%\"type\":\"tool\"%' order by id)",
			want:  "call_same error,call_same_dup1 error,call_tools_0_2 error"},
		{name: "messages of a sub-agent in the parent", from: "task", damage: moved(0, 9), find: "error SC702 ", same: true},
		{name: "its answers in the parent", from: "task", damage: moved(1, 9), find: "error SC702 ", same: true},
		{name: "its task in the parent", from: "task", damage: moved(0, 1), find: "error SC702 ", same: true},
		{name: "its task in the parent, and the answer of the same millisecond not", from: "task", damage: append(sameTime, moved(0, 1)...), find: "error SC702 ", query: rolesOfChild, want: "user,assistant,assistant"},
		{name: "its answer in the parent, and the task of the same millisecond not", from: "task", damage: append(sameTime, moved(1, 2)...), find: "error SC702 ", query: rolesOfChild, want: "user,assistant,assistant"},
		{name: "those of two sub-agents in the parent", from: "task-parallel", damage: moved(0, 9), find: "error SC702 ", same: true},
		{name: "an answer of one of two, with a call that has no result", from: "task-parallel", damage: append(moved(1, 2),
			"update part set data = json_set(json_remove(data, '$.state.output', '$.state.time.end'), '$.state.status', 'running') where data like '%call_t2a_0_0%'",
		), find: "error SC702 ", query: "select json_extract(data, '$.state.status') || ' ' || title from part join session s on s.id = session_id where data like '%call_t2a_0_0%'", want: "error first (@general subagent)"},
		{name: "those of one that was killed", from: "killed-child", damage: moved(0, 9), find: "error SC702 ",
			query: "select group_concat(nth) from (select count(*) as nth from message group by session_id order by nth)", want: "2,2"},
		{name: "those of one that was killed, in a parent that goes on", from: "killed-child-resumed", damage: moved(0, 9), find: "error SC702 ",
			query: "select count(*) from message where session_id = (select id from session where parent_id is not null)", want: "2"},
		{name: "the same without the columns of parts", from: "task", damage: moved(0, 9)[1:], find: "error SC702 ", same: true},
		{name: "a part is cut off", from: "tools", damage: []string{"update part set data = substr(data, 1, 40) where id = (select max(id) from part where data like '%\"type\":\"tool\"%')"},
			find: "error SC010 ", query: "select count(*) || ' ' || sum(json_valid(data)) from part", want: "10 10"},
		{name: "a message is cut off", from: "tools", damage: []string{"update message set data = substr(data, 1, 40) where id = (select message_id from part where data like '%\"type\":\"tool\"%')"},
			find: "error SC010 ", query: "select (select count(*) from message) || ' ' || (select count(*) from part where message_id not in (select id from message))", want: "2 0"},
		{name: "the parent of a sub-session does not exist", from: "task", damage: []string{"update session set parent_id = 'ses_gone' where parent_id is not null"}, find: "info SC705 ", same: true},
		{name: "a session is its own parent", from: "chat", damage: []string{"update session set parent_id = id where title = 'chat'"}, find: "error SC706 ", same: true},
		{name: "a sub-session is its own parent", from: "task", damage: []string{"update session set parent_id = id where parent_id is not null"}, find: "error SC706 ", same: true},
		{name: "a summary without its end covers what it covered", from: "compaction", damage: []string{
			"update message set data = json_remove(data, '$.time.completed') where json_extract(data, '$.summary') = 1",
		}, find: "warning SC407 ", query: "select count(*) || ' ' || count(json_extract(data, '$.time.completed')) || ' ' || count(json_extract(data, '$.error')) from message where json_extract(data, '$.summary') = 1", want: "1 1 0"},
		{name: "a text is left empty", from: "chat", damage: []string{
			"update part set data = json_remove(json_set(data, '$.text', ''), '$.time.end') where id = (select max(id) from part where data like '%\"text\":%')",
			"update message set data = json_remove(data, '$.time.completed', '$.finish') where id = (select message_id from part where data like '%\"text\":\"\"%')",
		}, find: "error SC401 ", query: "select count(*) || ' ' || (select group_concat(json_extract(data, '$.error.name')) from message) from part where data like '%\"text\":\"\"%'", want: "0 MessageAbortedError"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			before := stored(t, path)
			storetest.Change(t, path, tt.damage...)
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
				t.Errorf("%s gives %s, want %s", tt.query, got[0], tt.want)
			}
		})
	}
}

// TestOmit: what a provider refuses leaves with --allow lossy, and an undo gives it back.
func TestOmit(t *testing.T) {
	const (
		svg   = `'data:image/svg+xml;base64,PHN2Zz4='`
		tool  = `(select id from part where data like '%"status":"completed"%' order by id limit 1)`
		first = `(select id from part where data like '%"type":"text"%' order by id limit 1)`
		note  = "[sessctl left out image: image/svg+xml, 8 bytes in base64]"
	)
	file := "json_object('type', 'file', 'mime', 'image/svg+xml', 'url', " + svg + ")"
	claude := "update message set data = json_set(data, '$.modelID', 'claude-opus-4-8', '$.model.modelID', 'claude-opus-4-8')"
	for name, tt := range map[string]struct{ from, damage, query, want string }{
		"an image of the user": {"chat", "insert into part select substr(id, 1, length(id) - 2) || 'zz', message_id, session_id, time_created, time_updated, " + file + " from part where id = " + first,
			"select group_concat(json_extract(data, '$.text'), '|') from (select data from part where message_id = (select message_id from part where id = " + first + ") order by id)", "Please go on #chat1|" + note},
		"an image that a tool gave": {"tools", "update part set data = json_set(data, '$.state.output', 'out', '$.state.attachments', json_array(json_object('mime', 'image/svg+xml', 'url', " + svg + "))) where id = " + tool,
			"select json_extract(data, '$.state.output') || json_extract(data, '$.state.attachments') from part where id = " + tool, "out\n" + note + "[]"},
		"U+0000 in a result": {"tools", "update part set data = replace(json_set(data, '$.state.output', 'a@@b'), '@@', '\\u0000') where id = " + tool,
			"select json_extract(data, '$.state.output') from part where id = " + tool, `a\u0000b`},
		"U+0000 in arguments": {"tools", "update part set data = replace(json_set(data, '$.state.input', json_object('a', 'b@@c')), '@@', '\\u0000') where id = " + tool,
			"select json_extract(data, '$.state.input.a') from part where id = " + tool, `b\u0000c`},
		"U+0000 in arguments and their result": {"tools", "update part set data = replace(json_set(data, '$.state.input', json_object('a', 'b@@c'), '$.state.output', 'd@@e'), '@@', '\\u0000') where id = " + tool,
			"select json_extract(data, '$.state.input.a') || json_extract(data, '$.state.output') from part where id = " + tool, `b\u0000cd\u0000e`},
		"U+0000 in what the provider's tool gave": {"tools", "update part set data = replace(json_set(data, '$.metadata.providerExecuted', json('true'), '$.state.output', 'd@@e'), '@@', '\\u0000') where id = " + tool,
			"select json_extract(data, '$.state.output') from part where id = " + tool, `d\u0000e`},
		"U+0000 in a text": {"chat", "update part set data = replace(json_set(data, '$.text', 'a@@b'), '@@', '\\u0000') where id = " + first,
			"select json_extract(data, '$.text') from part where id = " + first, `a\u0000b`},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			storetest.Change(t, path, claude, tt.damage)
			before := stored(t, path)
			plan, receipt, err := repairtest.Repair(path, "lossy")
			if err != nil || receipt == nil || len(plan.Refused) > 0 {
				t.Fatalf("%v %+v %q", err, plan, storetest.Findings(t, path))
			}
			if got := storetest.Query(t, path, tt.query); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if again, second, err := repairtest.Repair(path, "lossy"); err != nil || second != nil {
				t.Errorf("a second repair has something to do: %v %+v", err, again)
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(before, stored(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOneMillisecond: where nothing but ids tells the place of a message among several of one
// millisecond, it stays, and the plan says so.
func TestOneMillisecond(t *testing.T) {
	path := corpus.Copy(t, "task")
	storetest.Change(t, path, append(sameTime, moved(2, 3)...)...)
	if found := storetest.Findings(t, path); !slices.Contains(found, "error SC702 ") {
		t.Errorf("found %q", found)
	}
	if plan, _, err := repairtest.Plan(path); err != nil || !plan.IsEmpty() {
		t.Errorf("%v, %+v", err, plan)
	}
}

// TestOtherPrograms: the databases of Kilo Code and MiMo Code are repaired as those of
// opencode are.
func TestOtherPrograms(t *testing.T) {
	for _, name := range []string{"killed-child", "killed-stream"} {
		want, _ := repairtest.Twice(t, corpus.Copy(t, name), stored)
		for _, file := range []string{"kilo.db", "mimocode.db"} {
			path := filepath.Join(t.TempDir(), file)
			if err := os.Rename(corpus.Copy(t, name), path); err != nil {
				t.Fatal(err)
			}
			got, _ := repairtest.Twice(t, path, stored)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s as %s: -opencode +other:\n%s", name, file, diff)
			}
		}
	}
}

// TestOddData: a row whose data is no object, or one of a form that is not known, is left or
// goes to the receipt, and what else is wrong with the session is repaired beside it.
func TestOddData(t *testing.T) {
	rows := map[string]string{
		"a prompt":             "update message set data = %s where id = (select min(id) from message)",
		"the newest answer":    "update message set data = %s where id = (select max(id) from message)",
		"a text":               `update part set data = %s where id = (select min(id) from part where data like '%%"type":"text"%%')`,
		"the last text":        `update part set data = %s where id = (select max(id) from part where data like '%%"type":"text"%%')`,
		"a call":               `update part set data = %s where id = (select max(id) from part where data like '%%"type":"tool"%%')`,
		"the start of a step":  `update part set data = %s where id = (select max(id) from part where data like '%%step-start%%')`,
		"a part of an old one": `update part set data = %s where id = (select min(id) from part where data like '%%"type":"tool"%%')`,
	}
	n, stride := 0, campaign.Stride(5, 1)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		for _, value := range []string{"'[]'", `'"x"'`, "'1'", "'null'", "'true'", "''", "'{'", "'{}'", `'{"type":"later"}'`, `'{"type":1}'`, `'{"role":["x"]}'`, "x'ff'"} {
			for _, allow := range [][]string{nil, {"unknown-form"}} {
				if n++; n%stride != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, %v", name, value, allow), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "opencode.db")
					if err := opencodetest.Build(path, player.PlayUntil(7, 160), player.PlayUntil(8, 90)); err != nil {
						t.Fatal(err)
					}
					storetest.Change(t, path, fmt.Sprintf(rows[name], value))
					before := stored(t, path)
					plan, receipt, err := repairtest.Repair(path, allow...)
					if err != nil {
						t.Fatalf("%v\n%+v", err, plan.Refused)
					}
					if again, _, err := repairtest.Plan(path, allow...); err != nil || !again.IsEmpty() && receipt != nil {
						t.Errorf("a second repair has work: %v, %+v", err, again.Trees)
					}
					if receipt == nil {
						return
					}
					if _, err := repairtest.Undo(path, path+".receipt.json"); err != nil {
						t.Error(err)
					} else if diff := cmp.Diff(before, stored(t, path)); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// TestOddState: what a member that is missing or null makes of a repair.
func TestOddState(t *testing.T) {
	for name, tt := range map[string]struct{ from, damage, query, want string }{
		"no arguments": {"killed-child", "update part set data = json_remove(data, '$.state.input') where id = " + taskPart,
			"select json_extract(data, '$.state.status') || ' ' || coalesce(json_type(data, '$.state.input'), 'none') from part where id = " + taskPart, "error none"},
		"null for arguments": {"killed-child", "update part set data = json_set(data, '$.state.input', null) where id = " + taskPart,
			"select json_extract(data, '$.state.status') || ' ' || json_type(data, '$.state.input') from part where id = " + taskPart, "error null"},
		"no number for the time of its end": {"killed-tool", "update part set time_updated = '2026-01-01' where data like '%callID%'",
			"select json_extract(data, '$.state.status') || ' ' || (json_extract(data, '$.state.time.end') = time_created) from part where data like '%callID%'", "error 1"},
		"null for times": {"killed-tool", "update message set data = json_set(data, '$.time', null) where data like '%parentID%'",
			"select group_concat(json_extract(data, '$.time.completed') is not null) from message where data like '%parentID%'", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			storetest.Change(t, path, tt.damage)
			if _, got := repairtest.Twice(t, path, stored, tt.query); got[0] != tt.want {
				t.Errorf("got %s, want %s", got[0], tt.want)
			}
		})
	}
}

// TestRevertedAway: what is behind a message that was reverted is sent no more, also where that
// message itself is gone: opencode compares ids.
func TestRevertedAway(t *testing.T) {
	path := corpus.Copy(t, "revert-pending")
	sent := func() (n int) {
		_, sessions := storetest.Opened(t, path)
		for _, s := range sessions {
			for i := range s.Items {
				if !s.Items[i].Flags.Has(session.Rewound) {
					n++
				}
			}
		}
		return n
	}
	before := sent()
	storetest.Change(t, path, "delete from message where id = (select json_extract(revert, '$.messageID') from session where revert is not null)")
	if after := sent(); after != before {
		t.Errorf("%d messages are sent, and %d were", after, before)
	}
}
