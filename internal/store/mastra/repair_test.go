package mastra_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// stored are the rows of messages, in their order in each thread, without the copies that older
// releases read, and without what waits.
func stored(t storetest.Tester, path string) []string {
	t.Helper()
	resource := "resourceId"
	if has := storetest.Query(t, path, "select name from pragma_table_info('mastra_messages') where name = 'resourceId'"); len(has) == 0 {
		resource = "null"
	}
	return storetest.Query(t, path,
		"select 'thread ' || id || ' ' || resourceId from mastra_threads order by id",
		"select thread_id || ' ' || quote("+resource+") || ' ' || role || ' ' || case when json_valid(content) and content like '{%' then json_remove(content, '$.toolInvocations', '$.metadata.pendingToolApprovals') else content end from mastra_messages order by thread_id, createdAt, rowid")
}

// fresh is what two repairs of one database word otherwise.
var fresh = regexp.MustCompile(`"(errorText|result)":"(\[sessctl\]|The tool call was)[^"]*"`)

// TestRecordedPairs repairs what is recorded beside its NAME.repaired.db, twice, and takes it back.
func TestRecordedPairs(t *testing.T) {
	for _, name := range corpus.Names(t) {
		name, repaired := strings.CutSuffix(name, ".repaired")
		if !repaired {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := stored(t, corpus.Copy(t, name+".repaired"))
			got, _ := repairtest.Twice(t, corpus.Copy(t, name), stored)
			for _, list := range [][]string{want, got} {
				for i := range list {
					list[i] = fresh.ReplaceAllString(list[i], "")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-recorded +repaired:\n%s", diff)
			}
		})
	}
}

// TestFixed: repaired, what a release that leaks stored of a script is what one stored that does
// not: the same messages, in the same order, in each thread.
func TestFixed(t *testing.T) {
	for _, name := range corpus.Names(t) {
		script, fixed := strings.CutSuffix(name, ".fixed")
		if !fixed {
			continue
		}
		t.Run(script, func(t *testing.T) {
			path := corpus.Copy(t, script+"-1.21.0")
			if _, _, err := repairtest.Repair(path); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(threads(t, corpus.Copy(t, name)), threads(t, path)); diff != "" {
				t.Errorf("-fixed +repaired:\n%s", diff)
			}
		})
	}
}

// threads are what is said in each thread, in the order of their first messages.
func threads(t *testing.T, path string) (list []string) {
	t.Helper()
	_, sessions := storetest.Opened(t, path)
	for _, s := range slices.SortedFunc(maps.Values(sessions), func(a, b *session.Session) int { return a.Items[0].Time.Compare(b.Items[0].Time) }) {
		text := s.Agent + ":"
		for i := range s.Items {
			it := &s.Items[i]
			text += "\n" + it.Role.String() + " " + it.Body.Text
			for _, c := range it.Calls {
				text += " " + c.ID + c.Name + c.Args
			}
			for _, r := range it.Results {
				text += " answers " + r.CallID
			}
		}
		list = append(list, text)
	}
	return list
}

// TestRepairs damages a database that is whole, one way at a time, and looks at what a repair
// writes.
func TestRepairs(t *testing.T) {
	const call = `update mastra_messages set content = json_remove(json_set(content, '$.parts[0].toolInvocation.state', 'call'), '$.parts[0].toolInvocation.result') where content like '%"toolCallId":"bosscall-1"%'`
	for _, tt := range []struct {
		name, from, damage string
		allow              string
		find               string // what is found
		query, want        string
	}{
		{name: "the answer of a finished sub-agent is lost", from: "sub-twice-1.8.0", damage: call, find: "error SC716 bosscall-1",
			query: `select json_extract(content, '$.parts[0].toolInvocation.result.text') from mastra_messages where content like '%"toolCallId":"bosscall-1"%'`, want: "The kid says 42."},
		{name: "the answers of two that were asked the same are lost", from: "same-agent-twice", find: "error SC716 bosscall-n",
			damage: strings.ReplaceAll(call, `"toolCallId":"bosscall-1"`, "agent-kid"),
			query:  "select count(distinct json_extract(content, '$.parts[0].toolInvocation.result.subAgentThreadId')) from mastra_messages where role = 'assistant' and content like '%agent-kid%'", want: "2"},
		{name: "what asks a sub-agent cannot be read, and the answer is lost", from: "sub-twice-1.8.0", find: "error SC010 ",
			damage: call + "; update mastra_messages set role = 'agent' where role = 'user' and content like '%look up the stock%'",
			query:  "select count(*) from mastra_messages where role = 'agent'", want: "0"},
		{name: "a row that is half moved", from: "leak-generate-1.21.0", damage: "update mastra_messages set resourceId = 'user-ada-kid' where content like '%kidcall-1%' and content not like '%bosscall%'", find: "error SC702 ",
			query: "select count(*) from mastra_messages m join mastra_threads t on t.id = thread_id where m.resourceId <> t.resourceId or length(thread_id) < 20 and content like '%kidcall%' and content not like '%bosscall%'", want: "0"},
		{name: "one that nothing but its resource tells", from: "leak-once-1.8.0", find: "error SC702 ",
			damage: "update mastra_messages set resourceId = 'user-ada-kid', content = replace(replace(content, 'kidcall-1', 'other'), 'The kid says 42.', 'Well.') where content like '%kidcall-1%' and content not like '%bosscall%'",
			query:  "select group_concat(thread_id = (select json_extract(o.content, '$.parts[0].toolInvocation.result.subAgentThreadId') from mastra_messages o where o.content like '%bosscall-1%')) from mastra_messages m where content like '%Well.%'", want: "1"},
		{name: "another user's row stays", from: "chat", damage: "update mastra_messages set resourceId = 'user-bob' where rowid = 2", find: "warning SC024 ",
			query: "select count(*) from mastra_messages where resourceId = 'user-bob'", want: "1"},
		{name: "and goes if that is allowed", from: "chat", damage: "update mastra_messages set resourceId = 'user-bob' where rowid = 2", find: "warning SC024 ", allow: "guesses",
			query: "select count(*) from mastra_messages where resourceId = 'user-bob'", want: "0"},
		{name: "a result without call, of format 1", from: "v1-filled", damage: "delete from mastra_messages where content like '%tool-call%call-b1%'", find: "warning SC103 call-b1",
			query: "select count(*) from mastra_messages where content like '%call-b1%'", want: "0"},
		{name: "two calls of one id", from: "tools", damage: `update mastra_messages set content = replace(content, '"call-a3"', '"call-a1"')`, find: "error SC201 call-a1",
			query: `select json_extract(content, '$.parts[4].toolInvocation.toolCallId') from mastra_messages where rowid = 2`, want: "call-a1_dup1"},
		{name: "a role that nobody knows, of a row without calls", from: "tools", damage: "update mastra_messages set role = 'agent' where rowid = 3", find: "error SC010 ",
			query: "select count(*) from mastra_messages", want: "3"},
		{name: "arguments that are no object", from: "args-text", damage: "update mastra_threads set title = 'x'", find: "error SC205 call-b1",
			query: `select json_extract(content, '$.parts[0].toolInvocation.args') from mastra_messages where rowid = 4`, want: `{"INVALID_JSON":"\"{\\\"s\\\":\\\"on\""}`},
		{name: "a blank text beside a call", from: "tools", damage: `update mastra_messages set content = json_set(content, '$.parts[1].text', '  ') where rowid = 2`, find: "warning SC402 ",
			query: `select json_extract(content, '$.parts[1].text') || json_extract(content, '$.parts[6].text') from mastra_messages where rowid = 2`, want: "Two worked."},
		{name: "a call names a thread that is gone, in a file whose turns have the time of their end", from: "sub-twice-1.8.0",
			damage: `update mastra_messages set content = json_set(content, '$.parts[0].toolInvocation.result.subAgentThreadId', 'gone') where content like '%"toolCallId":"bosscall-1"%'`, find: "warning SC704 bosscall-1",
			query: `select count(*) from mastra_threads where id = (select json_extract(content, '$.parts[0].toolInvocation.result.subAgentThreadId') from mastra_messages where content like '%"toolCallId":"bosscall-1"%')`, want: "1"},
		{name: "a clone of a thread with leaks", from: "leak-generate-1.21.0", find: "error SC702 ",
			damage: `insert into mastra_threads select 'clone', resourceId, title, '{"clone":{"sourceThreadId":"support-leak"}}', createdAt, updatedAt from mastra_threads where id = 'support-leak';
				insert into mastra_messages select 'clone' || id, 'clone', content, role, type, createdAt, resourceId from mastra_messages where thread_id = 'support-leak'`,
			query: `select group_concat(n) from (select count(*) n from mastra_messages group by thread_id order by 1)`, want: "2,2,4,4"},
		{name: "messages of a sub-agent whose thread is gone", from: "leak-generate-1.21.0", find: "error SC703 ",
			damage: "delete from mastra_threads where length(id) > 20; delete from mastra_messages where length(thread_id) > 20",
			query:  "select group_concat(t.resourceId || n) from (select thread_id, min(resourceId) r, count(*) n from mastra_messages group by 1 order by 3, 1) join mastra_threads t on t.id = thread_id and t.resourceId = r", want: "user-ada-kid1,user-ada-kid1,user-ada4"},
		{name: "and its task, which is half moved", from: "leak-generate-1.21.0", find: "error SC703 ",
			damage: "update mastra_messages set thread_id = 'support-leak' where length(thread_id) > 20; delete from mastra_threads where length(id) > 20",
			query:  "select group_concat(t.resourceId || n) from (select thread_id, min(resourceId) r, count(*) n from mastra_messages group by 1 order by 3, 1) join mastra_threads t on t.id = thread_id and t.resourceId = r", want: "user-ada-kid2,user-ada-kid2,user-ada4"},
		{name: "messages of sub-agents whose calls share an id", from: "leak-parallel-1.8.0", find: "error SC702 ",
			damage: `update mastra_messages set content = replace(replace(content, 'bosscall-r', 'same'), 'bosscall-b', 'same')`,
			query:  "select group_concat(resourceId || n) from (select resourceId, count(*) n from mastra_messages group by thread_id order by 1)", want: "user-ada2,user-ada-blue2,user-ada-red2"},
		{name: "a client's call waits", from: "client-tool", damage: "update mastra_threads set title = 'x'", find: "info SC102 call-c1",
			query: `select json_extract(content, '$.parts[0].toolInvocation.state') from mastra_messages where rowid = 2`, want: "call"},
		{name: "unless that is allowed", from: "client-tool", damage: "update mastra_threads set title = 'x'", find: "info SC102 call-c1", allow: "waiting",
			query: `select json_extract(content, '$.parts[0].toolInvocation.state') from mastra_messages where rowid = 2`, want: "output-error"},
		{name: "an approval whose run is gone", from: "approval", damage: "delete from mastra_workflow_snapshot", find: "warning SC101 call-p1",
			query: `select json_extract(content, '$.parts[0].toolInvocation.state') || json_extract(content, '$.metadata.pendingToolApprovals') from mastra_messages where rowid = 4`, want: "output-error{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			storetest.Change(t, path, tt.damage)
			if found := storetest.Findings(t, path); !slices.Contains(found, tt.find) {
				t.Errorf("found %q", found)
			}
			plan, _, err := repairtest.Repair(path, strings.Fields(tt.allow)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := storetest.Query(t, path, tt.query)[0]; got != tt.want {
				t.Errorf("%s gives %s%s", tt.query, got, repairtest.Told(plan))
			}
			repairtest.Idle(t, path, repairtest.Told(plan), strings.Fields(tt.allow)...)
		})
	}
}

// TestNoTimes: rows whose times cannot be read are whole, one after the other, and no numbers can put
// them in another order.
func TestNoTimes(t *testing.T) {
	path := corpus.Copy(t, "leak-generate-1.21.0")
	storetest.Change(t, path, `update mastra_messages set createdAt = '2.5' where rowid = 3`, `update mastra_messages set createdAt = X'FF' where rowid = 2`)
	if found := storetest.Findings(t, path); slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "SC011") || strings.Contains(f, "SC104") }) {
		t.Errorf("found %q", found)
	}
	plan, _, err := repairtest.Repair(path)
	if err != nil {
		t.Error(err)
	}
	repairtest.Idle(t, path, repairtest.Told(plan))
}

// TestRefusal: what a repair cannot write is told of the plan, and not of the database, which can be read.
func TestRefusal(t *testing.T) {
	path := corpus.Copy(t, "v1-filled")
	storetest.Change(t, path, "update mastra_messages set rowid = 1000 where content like '%tool-call%call-b1%'",
		"update mastra_messages set createdAt = (select createdAt from mastra_messages where rowid = 1000) where content like '%tool-result%call-b1%'")
	plan, _, err := repairtest.Repair(path)
	if told := repairtest.Told(plan); err != nil || !strings.Contains(told, "refused SC105 messages of the same millisecond have an order of their own") {
		t.Errorf("%v%s", err, told)
	}
}

// TestIntended: clones, threads that two programs share, and what is handed over on purpose are no
// findings.
func TestIntended(t *testing.T) {
	const again = `insert into mastra_messages select 'again' || id, 'again', content, role, type, createdAt, resourceId from mastra_messages where length(thread_id) < 20`
	for name, statements := range map[string][]string{
		"tools":     {`with recursive n(n) as (select 1 union all select n + 1 from n where n < 70) insert into mastra_messages select n || id, thread_id, content, role, type, createdAt, resourceId from n, mastra_messages where role = 'user' and rowid = 1`},
		"chat":      {"update mastra_threads set resourceId = ''"}, // then its messages say whose it is
		"clone":     {"insert into mastra_threads select 'again', resourceId, title, metadata, createdAt, updatedAt from mastra_threads limit 1"},
		"sub-twice": {`insert into mastra_threads select 'again', resourceId, title, '{"clone":{"sourceThreadId":"support-sub-twice"}}', createdAt, updatedAt from mastra_threads where length(id) < 20`, again},
		"nested":    {"insert into mastra_messages select 'context', (select max(id) from mastra_threads), content, role, type, createdAt, 'user-ada-mid-leaf' from mastra_messages where role = 'user' and length(thread_id) < 20"},
	} {
		path := corpus.Copy(t, name)
		storetest.Change(t, path, statements...)
		for _, f := range storetest.Findings(t, path) {
			if !strings.HasPrefix(f, "info") && !strings.Contains(f, "SC801") { // which asks for the task alone
				t.Errorf("%s: %s", name, f)
			}
		}
	}
}
