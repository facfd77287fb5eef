package goose_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestRecordedPairs(t *testing.T) {
	repairtest.Pairs(t, corpus, storetest.Dump, regexp.MustCompile("^$"))
}

// The rows of the session in their order: the second, who said it, and what.
const rows = `select group_concat(said, ' ') from (select (created_timestamp % 100) || role || ':' || substr(coalesce(json_extract(content_json, '$[#-1].id'), json_extract(content_json, '$[0].type')), -3) as said
	from messages where session_id = '20261122_1' order by created_timestamp, id)`

// The rows of both sessions, and those of the recorded one.
const (
	children  = "select group_concat(substr(session_id, -1) || role || substr(created_timestamp, -2), ' ') from (select * from messages order by session_id, created_timestamp, id)"
	delegated = "1user31 1user34 1assistant34 1assistant34 1user34 1assistant35 2user35 2user35 2assistant35 2assistant35 2user35 2assistant35"
)

// TestRepairs damages a database that is whole, one way at a time, and looks at what a
// repair writes.
func TestRepairs(t *testing.T) {
	const request = ` content_json like '%"toolRequest","id":"call_t1_0_1"%'`
	const response = ` content_json like '%"toolResponse","id":"call_t1_0_1"%'`
	const whole = "25user:ext 28user:ext 28assistant:ext 28assistant:0_0 28user:0_0 28assistant:0_1 28user:0_1 28assistant:0_2 28user:0_2 28assistant:ext"
	for _, tt := range []struct {
		name, from, damage string
		find               string // what is found
		query, want        string // what a repair makes of it; the rows as they were where there is no query
	}{
		{name: "result lost in the middle", from: "tools", damage: "delete from messages where" + response, find: "warning SC101 call_t1_0_1"},
		{name: "its content", from: "tools", damage: "delete from messages where" + response, find: "warning SC101 call_t1_0_1",
			query: "select role || json_extract(content_json, '$[0].toolResult.status') || substr(json_extract(content_json, '$[0].toolResult.error'), 1, 18) || metadata_json || timestamp || (message_id like 'msg_________-%') from messages where" + response,
			want:  `usererror-32603: [sessctl] {"userVisible":true,"agentVisible":true}2026-11-22 13:27:081`},
		{name: "result lost at the end", from: "tools", damage: "delete from messages where id > 8", find: "warning SC101 call_t1_0_2", query: rows,
			want: "25user:ext 28user:ext 28assistant:ext 28assistant:0_0 28user:0_0 28assistant:0_1 28user:0_1 28assistant:0_2 28user:0_2"},
		{name: "result without call", from: "tools", damage: "update messages set content_json = replace(content_json, 'call_t1_0_1', 'call_none') where" + response, find: "warning SC103 call_none"},
		{name: "result twice", from: "tools", damage: "insert into messages (message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json) select message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json from messages where" + response,
			find: "warning SC106 call_t1_0_1"},
		{name: "broken result", from: "tools", damage: "update messages set content_json = substr(content_json, 1, 40) where" + response, find: "error SC010 "},
		{name: "milliseconds", from: "tools", damage: "update messages set created_timestamp = created_timestamp * 1000 where" + request, find: "warning SC008 "},
		{name: "milliseconds of a result", from: "tools", damage: "update messages set created_timestamp = created_timestamp * 1000 where" + response, find: "error SC104 call_t1_0_1"},
		{name: "milliseconds of the first messages", from: "tools", damage: "update messages set created_timestamp = created_timestamp * 1000 where id < 6", find: "warning SC008 "},
		{name: "milliseconds of all messages", from: "tools", damage: "update messages set created_timestamp = created_timestamp * 1000", find: "warning SC008 "},
		{name: "call hidden", from: "tools", damage: `update messages set metadata_json = json_set(metadata_json, '$.agentVisible', json('false')) where` + request, find: "warning SC725 call_t1_0_1",
			query: "select group_concat(json_extract(metadata_json, '$.agentVisible')) from messages", want: "1,1,1,1,1,1,1,1,1,1"},
		{name: "messages of a sub-agent in the parent", from: "delegate", damage: "update messages set session_id = '20261122_1' where id in (5, 6, 7)", find: "error SC702 ", query: children, want: delegated},
		{name: "all messages of a sub-agent in the parent", from: "delegate", damage: "update messages set session_id = '20261122_1' where id between 3 and 8", find: "error SC702 ", query: children, want: delegated},
		{name: "those of one of two sub-agents", from: "delegate-two", damage: "update messages set session_id = '20261122_1' where id = 4", find: "error SC702 ",
			query: "select group_concat(session_id || role, ' ') from (select * from messages order by session_id, created_timestamp, id)", want: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			if tt.want == "" && tt.query != "" { // as it was
				tt.want = storetest.Query(t, path, tt.query)[0]
			}
			storetest.Change(t, path, tt.damage)
			if found := storetest.Findings(t, path); !slices.Contains(found, tt.find) {
				t.Errorf("found %q", found)
			}
			if tt.query == "" {
				tt.query, tt.want = rows, whole
			}
			if _, got := repairtest.Twice(t, path, storetest.Dump, tt.query); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got %q, want %s", got, tt.want)
			}
		})
	}
}

// TestReported is damage that the dossier has no repair for: it is told of, and stays.
func TestReported(t *testing.T) {
	for _, tt := range []struct{ name, from, damage, find string }{
		{"unknown role", "tools", "update messages set role = 'system' where id = 10", "warning SC308 "},
		{"session gone", "chat", "pragma foreign_keys = off; delete from sessions where id = '20261122_2'", `store: messages has`},
		{"named session gone", "delegate", "pragma foreign_keys = off; delete from messages where session_id = '20261122_2'; delete from sessions where id = '20261122_2'", "warning SC704 call_d1_0_0"},
		{"parent not recorded", "killed-child", "update sessions set parent_session_id = null", "info SC719 "},
		{"messages of one of two sub-agents in the parent", "delegate-two", "update messages set session_id = '20261122_1' where id in (8, 9)", "error SC702 "},
		{"hidden call gone", "compaction", "delete from messages where id = 9", "info SC021 "},
		{"call in a message of the user", "tools", "update messages set role = 'user' where id = 8", "warning SC108 call_t1_0_2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := corpus.Copy(t, tt.from)
			storetest.Change(t, path, tt.damage)
			if found := storetest.Findings(t, path); !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, tt.find) }) {
				t.Errorf("found %q", found)
			}
		})
	}
}

// TestForeignRow: a row of another session in a sub-session, from before its time, does not
// make messages of the caller its own.
func TestForeignRow(t *testing.T) {
	path := corpus.Copy(t, "delegate")
	storetest.Change(t, path, `insert into messages (id, session_id, role, content_json, created_timestamp) values (-1, '20261122_2', 'assistant', '[{"type":"text","text":"odd"}]', 1795354030)`)
	if found := storetest.Findings(t, path); slices.Contains(found, "error SC702 ") {
		t.Errorf("found %q", found)
	}
}

// TestWaiting: from schema 17 on, goose answers a call itself when its sub-session ended.
func TestWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := goosetest.Build(path, 17, player.PlayUntil(8, 0)); err != nil {
		t.Fatal(err)
	}
	call := storetest.Query(t, path, "select json_extract(content_json, '$[#-1].id') from messages where content_json like '%\"delegate\"%' limit 1")[0]
	storetest.Change(t, path, `delete from messages where session_id = '20261122_1' and id > (select id from messages where role = 'assistant' and content_json like '%"`+call+`"%')`)
	if found := storetest.Findings(t, path); !slices.ContainsFunc(found, func(f string) bool { return regexp.MustCompile("SC101|SC716").MatchString(f) }) {
		t.Errorf("found %q", found)
	}
	storetest.Change(t, path, `update sessions set parent_delegation = json_object('execution_mode', 'foreground', 'result_delivered_to_parent', json('false'),
		'parent_delegate_message_id', (select message_id from messages where role = 'assistant' and content_json like '%"`+call+`"%')) where session_type = 'sub_agent'`)
	found := storetest.Findings(t, path)
	if about := slices.DeleteFunc(slices.Clone(found), func(f string) bool { return !strings.HasSuffix(f, call) }); !slices.Equal(about, []string{"info SC102 " + call}) {
		t.Errorf("while it waits: %q", found)
	}
}

// TestOddTimes: where a time is no number of seconds, what would have to stand beside it is
// left out of a repair, and the rest is made.
func TestOddTimes(t *testing.T) {
	for _, odd := range []string{"'x'", "x'31'", "9000000000000000000", "0", "-1", "1.5", "'\"x\"'"} {
		for _, of := range []string{`content_json like '%"toolRequest","id":"call_t1_0_1"%'`, `content_json like '%"toolResponse","id":"call_t1_0_1"%'`, "id = 1"} {
			path := corpus.Copy(t, "tools")
			storetest.Change(t, path, "update messages set created_timestamp = "+odd+" where "+of, `delete from messages where content_json like '%"toolResponse","id":"call_t1_0_2"%'`)
			plan, _, err := repairtest.Repair(path)
			if err != nil {
				t.Fatalf("%s, %s: %v%s", odd, of, err, repairtest.Told(plan))
			}
			repairtest.Idle(t, path, odd+", "+of+repairtest.Told(plan))
		}
	}
}

// TestSwapped: where two messages have each other's contents, or a flag is another one, what is
// planned is what is read then: no repair is rolled back.
func TestSwapped(t *testing.T) {
	program := player.Program{
		{Prompt: "first", Steps: []player.Step{{Text: "I look.", Calls: []player.Call{{Tool: "shell", Args: `{"command":"ls"}`, Result: "a"}}}, {Text: "Seen."}}},
		{Prompt: "more", Steps: []player.Step{{Text: "Summary: all was seen.", Compacts: true}, {Text: "Yes.", Calls: []player.Call{{Tool: "shell", Args: `{"command":"pwd"}`, Result: "b"}}}, {Text: "Done."}}},
	}
	n, repaired := 0, 0
	try := func(name, damage string) {
		if n++; n%campaign.Stride(2, 1) != 0 {
			return
		}
		path := filepath.Join(t.TempDir(), "sessions.db")
		if err := goosetest.Build(path, goosetest.Newest, player.Play(program, 3)); err != nil {
			t.Fatal(err)
		}
		storetest.Change(t, path, damage)
		before := storetest.Dump(t, path)
		plan, receipt, err := repairtest.Repair(path)
		if err != nil {
			t.Errorf("%s: %v%s", name, err, repairtest.Told(plan))
		}
		if receipt == nil {
			return
		}
		repaired++
		repairtest.Idle(t, path, repairtest.Told(plan))
		if _, err := repairtest.Undo(path, receipt.Path()); err != nil || !slices.Equal(before, storetest.Dump(t, path)) {
			t.Errorf("%s: the undo: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := goosetest.Build(path, goosetest.Newest, player.Play(program, 3)); err != nil {
		t.Fatal(err)
	}
	rows := storetest.Query(t, path, "select id from messages order by id")
	for i, a := range rows {
		for _, b := range rows[i+1:] {
			for _, column := range []string{"content_json", "metadata_json", "role"} {
				try(fmt.Sprintf("%s of %s and %s", column, a, b), fmt.Sprintf("update messages set %[1]s = (select %[1]s from messages o where o.id = %[2]s + %[3]s - messages.id) where id in (%[2]s, %[3]s)", column, a, b))
			}
		}
		for _, seen := range []string{`{"userVisible":false,"agentVisible":true}`, `{"userVisible":true,"agentVisible":false}`, `{"userVisible":false,"agentVisible":false}`} {
			try(a+" is "+seen, "update messages set metadata_json = '"+seen+"' where id = "+a)
		}
	}
	if t.Logf("%d damages, of a part %d were repaired", n, repaired); repaired == 0 {
		t.Error("nothing was repaired")
	}
}

// TestMillisecondsBesideAnAddedResult: a text whose time counts milliseconds is the first part of the
// answer that asked the sub-agent, which lacks a result. It stays where it is, with its number.
func TestMillisecondsBesideAnAddedResult(t *testing.T) {
	const (
		blanks = `update messages set content_json = '[{"type":"text","text":" "}]' where id = 6`
		counts = "update messages set created_timestamp = created_timestamp * 1000 where id = 8"
		stays  = "select id || ' ' || session_id || ' ' || created_timestamp from messages where id < 78 and id <> 6 order by id"
	)
	for _, damages := range [][]string{{blanks + "; " + counts}, {blanks, counts}, {counts, blanks}} {
		path := filepath.Join(t.TempDir(), "sessions.db")
		if err := goosetest.Build(path, 15, player.PlayUntil(667, 353), player.Play(player.RandomProgram(668, 1), 668)); err != nil {
			t.Fatal(err)
		}
		before := storetest.Query(t, path, stays)
		for _, damage := range damages {
			storetest.Change(t, path, damage)
			if _, receipt, err := repairtest.Repair(path); err != nil || receipt == nil {
				t.Fatalf("%q: %v, %v", damage, receipt, err)
			}
			if err := errors.Join(os.Remove(path+".backup"), os.Remove(path+".receipt.json")); err != nil {
				t.Fatal(err)
			}
		}
		if now := storetest.Query(t, path, stays); !slices.Equal(now, before) {
			t.Errorf("%q: %q, want %q", damages, now, before)
		}
	}
}
