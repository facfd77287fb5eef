//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRolesThatOnlyRead: a role needs no more than SELECT, and what it may not read is
// told with what to type.
func TestRolesThatOnlyRead(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	execute(t, url, "create role onlyreads login", "grant select on all tables in schema public to onlyreads",
		"create role readslittle login", "grant select on sessions, app_states, user_states to readslittle",
		"create role filtered login", "grant select on all tables in schema public to filtered",
		"alter table events enable row level security", "create policy mine on events to onlyreads using (true)",
		"create policy few on events to filtered using (session_id = 'tool')")
	t.Cleanup(func() {
		execute(t, url, "drop policy mine on events", "drop policy few on events", "drop owned by onlyreads, readslittle, filtered", "drop role onlyreads, readslittle, filtered")
	})
	for _, tt := range []struct {
		role string
		want []string
		code int
	}{
		{"postgres", []string{`"rule": "SC101"`}, 1},
		{"readslittle", []string{"the role may not read the table events", "GRANT SELECT ON", `readslittle`}, 3},
		{"filtered", []string{"row-level security", "SQLSTATE 42501"}, 3},
	} {
		out, errors, code := sessctl(t, "check", "--format", "json", asRole(url, tt.role))
		for _, want := range tt.want {
			if !strings.Contains(flat(out+errors), want) {
				t.Errorf("%s: no %q in\n%s%s", tt.role, want, out, errors)
			}
		}
		if code != tt.code {
			t.Errorf("%s: exit code %d", tt.role, code)
		}
	}
	execute(t, url, "alter table events disable row level security")
	if out, errors, code := sessctl(t, "check", "--format", "json", asRole(url, "onlyreads")); code != 1 || !strings.Contains(out, `"rule": "SC101"`) {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

const secret = "pa55%21word"

// TestNoPasswordIsPrinted: whatever a command does with a database, the password of its
// name is nowhere.
func TestNoPasswordIsPrinted(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	execute(t, url, "create role locked login password 'pa55!word'", "grant select on all tables in schema public to locked")
	t.Cleanup(func() { execute(t, url, "drop owned by locked", "drop role locked") })
	right := asRole(url, "locked:"+secret)
	wrong := asRole(url, "locked:not"+secret)
	keywords := "user=locked password=pa55!word host=/nowhere dbname=x"
	for _, name := range []string{right, wrong, keywords, right + "&sslmode=nonsense", "postgres://locked:" + secret + "@%zz/x", "postgress://locked:" + secret + "@nowhere/x"} {
		for _, args := range [][]string{
			{"check"}, {"check", "--format", "json"}, {"check", "--format", "sarif"}, {"check", "--format", "junit"}, {"check", "--format", "ndjson"},
			{"check", "--format", "github"}, {"check", "--format", "gitlab"}, {"check", "--format", "markdown"}, {"check", "--deep"},
			{"ls"}, {"ls", "--format", "json"}, {"view", "tool"}, {"view", "--format", "json", "tool"}, {"view", "--model-input", "tool"}, {"why"}, {"why", "--format", "json"}, {"export"}, {"repair"}, {"repair", "--dry-run"},
			{"repair", "--format", "json"}, {"undo"}, {"export", "--output=" + name}, {"check", "--baseline=" + name}, {"check", "--format=" + name}, {"diff", name}, {"check", "one", "two", "--nonsense"}, {"replay"}, {"explain"}, {"nonsense"}, {"view", "nonsense"},
		} {
			out, errors, code := sessctl(t, slices.Insert(slices.Clone(args), 1, name)...)
			for _, word := range []string{secret, "pa55!word", "pa55"} {
				if strings.Contains(out+errors, word) {
					t.Errorf("sessctl %s (exit code %d) prints %q:\n%s%s", strings.Join(args, " "), code, word, out, errors)
				}
			}
			if name == right && args[0] == "ls" && code != 0 {
				t.Errorf("exit code %d\n%s", code, errors)
			}
			if name == wrong && args[0] == "check" && len(args) == 1 && (code != 3 || !strings.Contains(errors, "refuses the password")) {
				t.Errorf("exit code %d\n%s", code, errors)
			}
		}
	}
}

// TestDatabasesThatCannotBeRead: every one is told with what it is and what to do.
func TestDatabasesThatCannotBeRead(t *testing.T) {
	folder := serverFolder(t)
	empty := database(t)
	foreign := database(t, "create table sessions (id int primary key, name text)", "create table events (id int, title text)")
	views := database(t, "create schema inner_tables", strings.ReplaceAll(adkTables, "create table ", "create table inner_tables."),
		"create view sessions as select * from inner_tables.sessions", "create view events as select * from inner_tables.events",
		"drop schema if exists x")
	for _, tt := range []struct{ name, url, want string }{
		{"no server", "postgres://nobody@/x?host=/nowhere", "cannot be reached"},
		{"no host", "postgres://nobody@no-such-host.invalid/x", "cannot be reached"},
		{"no database", urlOf(folder, "postgres", "absent"), "does not exist"},
		{"no role", urlOf(folder, "absent", "postgres"), "does not let this role in"},
		{"no schema", empty + "&search_path=absent", "has no tables in which a runtime keeps its sessions"},
		{"no tables", empty, "has no tables in which a runtime keeps its sessions"},
		{"another program's", foreign, "sessctl reads those of Google ADK, kagent, Mastra, the OpenAI Agents SDK, Spring AI Session and Claude's Agent SDK on a server"},
		{"views", views + "&search_path=public", "is a view"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, errors, code := sessctl(t, "check", tt.url)
			if code != 3 || !strings.Contains(flat(errors), tt.want) || strings.Contains(errors, "failed to connect") {
				t.Errorf("exit code %d\n%s%s", code, out, errors)
			}
		})
	}
}

const adkTables = `create table sessions (app_name text, user_id text, id text, state jsonb, create_time timestamptz, update_time timestamptz, primary key (app_name, user_id, id));
create table events (id text, app_name text, user_id text, session_id text, invocation_id text, author text, actions bytea, branch text,
  "timestamp" timestamptz, content jsonb, primary key (id, app_name, user_id, session_id))`

// TestSchemas: each schema with sessions is a store.
func TestSchemas(t *testing.T) {
	session := "insert into sessions values ('a', 'u', 's', '{}', now(), now())"
	url := database(t, "create schema tenant_a", "create schema tenant_b", "create schema other", "create table other.notes (id int)",
		"set search_path = tenant_a", adkTables, session, "set search_path = tenant_b", adkTables, session)
	out, errors, code := sessctl(t, "ls", url)
	for _, want := range []string{"search_path=tenant_a", "search_path=tenant_b"} {
		if !strings.Contains(out, want) || code != 0 {
			t.Errorf("no %s (exit code %d) in\n%s%s", want, code, out, errors)
		}
	}
	empty := out
	execute(t, url, "drop table if exists public.events, public.sessions", "create schema a_first", "create table public.nothing ()")
	if out, _, _ = sessctl(t, "ls", url); variable.ReplaceAllString(out, "") != variable.ReplaceAllString(empty, "") {
		t.Errorf("with an empty public schema:\n%s\nwithout:\n%s", empty, out)
	}
	if out, _, _ = sessctl(t, "ls", url+"&search_path=tenant_b"); strings.Contains(out, "tenant_a") || !strings.Contains(out, "tenant_b") {
		t.Error(out)
	}
}

// flat is a text without its line breaks.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestCommandsNameTheRole: one that the variables do not give.
func TestCommandsNameTheRole(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	for user, want := range map[string]string{"postgres": "'postgres:///", "somebody": "'postgres://postgres@/"} {
		t.Setenv("PGUSER", user)
		for _, words := range [][]string{{"why", url, "stale"}, {"check", url}, {"repair", url, "--dry-run"}, {"repair", url, "--session", "stale", "--yes"}} {
			out, errors, _ := sessctl(t, words...)
			for _, line := range strings.SplitAfter(out, "\n") {
				if _, command, is := strings.Cut(line, "sessctl "); is && strings.Contains(command, "postgres:") && !strings.Contains(command, want) {
					t.Errorf("%s: %s is named in %q\n%s", words, user, line, errors)
				}
			}
		}
	}
}

// TestWayToARepair: what is damaged in a database that cannot be changed is exported into the
// current folder and repaired there.
func TestWayToARepair(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	url = readingOnly(url)
	t.Chdir(t.TempDir())
	out, errors, code := sessctl(t, "why", url, "stale", "--format", "json")
	var answer struct{ Repair struct{ Commands []string } }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 1 || len(answer.Repair.Commands) != 2 {
		t.Fatalf("%v (exit code %d)\n%s%s", err, code, out, errors)
	}
	for _, line := range answer.Repair.Commands {
		words := strings.Fields(strings.ReplaceAll(line, "'", ""))[1:]
		if out, errors, code := sessctl(t, words...); code > 1 {
			t.Fatalf("%q: exit code %d\n%s%s", line, code, out, errors)
		}
	}
	streams, _ := filepath.Glob("*.repaired.ndjson")
	if len(streams) != 1 {
		t.Fatal(answer.Repair.Commands, streams)
	}
	if out, errors, code := sessctl(t, "why", streams[0], "stale"); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "undo", url); code != 3 || !strings.Contains(flat(errors), "no repair was found that can be undone") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// TestOtherClients: another client may be a runtime that still writes; another sessctl is
// none.
func TestOtherClients(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	for _, tt := range []struct {
		beside, rule string
	}{{"", "SC101"}, {"application_name=sessctl", "SC101"}, {"application_name=runtime", "SC102"}} {
		if tt.beside != "" {
			conn, err := pgconn.Connect(t.Context(), url+"&"+tt.beside)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
		}
		out, errors, _ := sessctl(t, "check", "--format", "json", "--session", "interrupted-tail", url)
		if !strings.Contains(out, `"rule": "`+tt.rule+`"`) {
			t.Errorf("beside %q, no %s:\n%s%s", tt.beside, tt.rule, out, errors)
		}
	}
}
