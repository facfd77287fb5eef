//go:build unix

package postgres_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// TestOpenAIAgents: the tables of SQLAlchemySession, under two names in one database, give what the
// same rows in a file give; a repair writes the same, and is taken back.
func TestOpenAIAgents(t *testing.T) {
	const call, result, said = `{"type":"function_call","id":"fc_%[1]s","call_id":"call_%[1]s","name":"look","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"call_%[1]s","output":"one"}`, `{"role":"user","content":"%s"}`
	var rows []string
	second := 0
	add := func(sessions, messages, session string, items ...string) {
		rows = append(rows, fmt.Sprintf("insert into %s values ('%s', '2026-11-22 09:00:00', '2026-11-22 09:00:00')", sessions, session))
		for n, item := range items {
			if n%2 == 0 { // items of one turn are stored at once
				second++
			}
			rows = append(rows, fmt.Sprintf("insert into %s (session_id, message_data, created_at) values ('%s', '%s', '2026-11-22 09:00:%02d')", messages, session, item, second))
		}
	}
	of := func(form, id string) string { return fmt.Sprintf(form, id) }
	add("agent_sessions", "agent_messages", "clean", of(said, "hi"), of(call, "a"), of(result, "a"))
	add("agent_sessions", "agent_messages", "killed", of(said, "hi"), of(call, "b"), of(said, "still there?"), of(said, "yes?"), of(said, "no?"))
	add("agent_sessions", "agent_messages", "orphan", of(said, "hi"), of(result, "c"), of(said, "on"))
	add(`"Chats"`, `"Chat rows"`, "killed", of(said, "hi"), of(call, "d"), of(result, "d"), of(result, "d"), of(call, "e"))
	schema := func(id, stamp string) (list []string) {
		for _, pair := range [][2]string{{"agent_sessions", "agent_messages"}, {`"Chats"`, `"Chat rows"`}} {
			list = append(list, fmt.Sprintf("create table %s (session_id varchar not null primary key, created_at %s default current_timestamp not null, updated_at %[2]s default current_timestamp not null)", pair[0], stamp),
				fmt.Sprintf("create table %s (id %s, session_id varchar not null references %s (session_id) on delete cascade, message_data text not null, created_at %s default current_timestamp not null)", pair[1], id, pair[0], stamp),
				fmt.Sprintf("create index %s on %s (session_id, created_at)", strings.ReplaceAll(`"idx_`+strings.Trim(pair[1], `"`)+`_session_time"`, " ", "_"), pair[1]))
		}
		return list
	}
	url := database(t, slices.Concat(schema("serial primary key", "timestamp"), rows)...)
	path := filepath.Join(t.TempDir(), "agents.db")
	if err := builder.Create(path, schema("integer primary key autoincrement", "timestamp"), func(db *builder.DB) {
		for _, row := range rows {
			db.Exec(row)
		}
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"SC101", "SC101", "SC103", "SC106"}
	for _, at := range []string{url, path} {
		if found := rulesIn(t, at); !slices.Equal(found, want) {
			t.Fatalf("%s: found %q", at, found)
		}
	}
	repairedAndBack(t, url)
	views := map[string]string{}
	for _, at := range []string{url, path} {
		if out, errors, code := sessctl(t, "repair", at, "--yes", "--assume-dead", "--allow", "reorder"); code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, out, errors)
		}
		for _, id := range []string{"clean", "orphan", "agent_messages/killed", "Chat rows/killed"} {
			out, _, _ := sessctl(t, "view", at, id, "--format", "markdown")
			views[at] += out
		}
		if found := rulesIn(t, at); found != nil {
			t.Errorf("%s after the repair: %q", at, found)
		}
	}
	if diff := cmp.Diff(strings.ReplaceAll(views[path], path, ""), strings.ReplaceAll(views[url], url, "")); diff != "" {
		t.Errorf("-file +server:\n%s", diff)
	}
}
