//go:build unix

package mysql_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// roles makes roles with rights in a database, which go with the test.
func roles(t *testing.T, at string, grants map[string]string) {
	t.Helper()
	for role, grant := range grants {
		execute(t, at, "create user '"+role+"'@'localhost'"+map[bool]string{true: " identified by 'pa55!word'"}[role == "locked"])
		for one := range strings.SplitSeq(grant, ";") {
			if one != "" {
				execute(t, at, "grant "+strings.ReplaceAll(one, "DB.", databaseOf(at)+".")+" to '"+role+"'@'localhost'")
			}
		}
		t.Cleanup(func() { execute(t, at, "drop user '"+role+"'@'localhost'") })
	}
}

// TestRolesThatOnlyRead: a role needs no more than SELECT, and what it may not do is told with
// what to type.
func TestRolesThatOnlyRead(t *testing.T) {
	at := untied(t, "adk-python-v1")
	t.Chdir(t.TempDir())
	roles(t, at, map[string]string{
		"reads": "select on DB.*", "little": "select on DB.sessions;select on DB.app_states", "nothing": "", "sees": "select on DB.*;process on *.*",
		"keeps": "select, insert, update on DB.*", "repairs": "select, insert, update, delete on DB.*",
	})
	before := rowsOf(t, at)
	for _, tt := range []struct {
		role, command string
		want          string
		code          int
	}{
		{"reads", "check", "SC101", 1},
		{"little", "check", "has no tables in which a runtime keeps its sessions", 3},
		{"nothing", "check", "does not exist, or the role may not use it", 3},
		{"reads", "repair", "the role may not change its table", 3},
		{"keeps", "repair", "the role may not change its table", 3},
	} {
		args := []string{tt.command, asRole(at, tt.role)}
		if tt.command == "repair" {
			args = append(args, "--yes", "--fail-on", "never")
		}
		out, errors, code := sessctl(t, args...)
		if code != tt.code || !strings.Contains(flat(out+errors), tt.want) {
			t.Errorf("%s as %s: exit code %d\n%s%s", tt.command, tt.role, code, out, errors)
		}
	}
	// Only who sees all clients knows that there is none.
	for role, want := range map[string]string{"reads": `"unknown"`, "sees": `"dead"`} {
		if out, _, _ := sessctl(t, "check", asRole(at, role), "--format", "json"); !strings.Contains(out, `"writer": `+want) {
			t.Errorf("%s: %s", role, out)
		}
	}
	if rowsOf(t, at) != before {
		t.Fatal("other rows")
	}
	if out, errors, code := sessctl(t, "repair", asRole(at, "repairs"), "--yes", "--fail-on", "never"); code != 0 || rowsOf(t, at) == before {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	receipts, _ := filepath.Glob("*.receipt.json")
	if out, errors, code := sessctl(t, "undo", receipts[0], "--yes"); code != 0 || rowsOf(t, at) != before {
		t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
	}
}

// TestNoPasswordIsPrinted: whatever a command does with a database, the password is nowhere.
func TestNoPasswordIsPrinted(t *testing.T) {
	at := untied(t, "adk-python-v1")
	t.Chdir(t.TempDir())
	roles(t, at, map[string]string{"locked": "select, insert, update, delete on DB.*"})
	right, wrong := asRole(at, "locked:pa55%21word"), asRole(at, "locked:notpa55%21word")
	for _, name := range []string{right, wrong, right + "&ssl-mode=nonsense", "mysql://locked:pa55%21word@%zz/x", "mysqll://locked:pa55%21word@nowhere/x", "mysql://locked:pa55%21word@127.0.0.1:1/x", "jdbc:mysql://locked:pa55%21word@h/x"} {
		for _, args := range [][]string{{"check"}, {"check", "--format", "json"}, {"ls"}, {"view", "tail"}, {"why"}, {"export"}, {"repair"}, {"repair", "--yes", "--assume-dead"}, {"undo"}, {"check", "--baseline=" + name}, {"diff", name}} {
			out, errors, code := sessctl(t, slices.Insert(slices.Clone(args), 1, name)...)
			if strings.Contains(out+errors, "pa55") {
				t.Errorf("sessctl %s (exit code %d) prints it:\n%s%s", strings.Join(args, " "), code, out, errors)
			}
			if name == right && args[0] == "ls" && (code != 0 || !strings.Contains(flat(errors), "shows in the list of processes")) || name == wrong && args[0] == "ls" && (code != 3 || !strings.Contains(errors, "refuses its password")) {
				t.Errorf("exit code %d\n%s", code, errors)
			}
		}
	}
	files, _ := filepath.Glob("*")
	for _, file := range files {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), "pa55") {
			t.Errorf("%s has it", file)
		}
	}
	t.Setenv("MYSQL_PWD", "pa55!word")
	if out, errors, code := sessctl(t, "ls", asRole(at, "locked")); code != 0 || errors != "" {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// TestDatabasesThatCannotBeRead: every one is told with what it is and what to do.
func TestDatabasesThatCannotBeRead(t *testing.T) {
	empty := database(t)
	folder := server.folder
	views := database(t, strings.ReplaceAll(tablesOf["adk-python-v1"], "create table events", "create table stored"), "create view events as select * from stored")
	keyless := database(t, strings.ReplaceAll(tablesOf["adk-python-v1"], "primary key (id, app_name, user_id, session_id)", "key (id)"))
	for _, tt := range []struct{ name, url, want string }{
		{"no server", "mysql://nobody@/x?socket=/nowhere", "cannot be reached"},
		{"no host", "mysql://nobody@no-such-host.invalid/x", "cannot be reached"},
		{"no database", urlOf("root", "absent"), "does not exist"},
		{"no role", urlOf("absent", "mysql"), "does not let this role in"},
		{"no tables", empty, "sessctl reads those of Google ADK, the OpenAI Agents SDK and Spring AI Session on such a server"},
		{"another program's", database(t, "create table sessions (id int primary key, name text)"), "has no tables in which a runtime keeps its sessions"},
		{"views", views, "is a view"},
		{"no keys", keyless, "no primary key"},
		{"a password in a file name", "jdbc:mysql://localhost/" + databaseOf(empty) + "?user=me&socket=" + folder, "not a valid address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, errors, code := sessctl(t, "check", tt.url)
			if code < 2 || !strings.Contains(flat(errors), tt.want) {
				t.Errorf("exit code %d\n%s%s", code, out, errors)
			}
		})
	}
}

// TestEngines: a table without transactions is read and never written.
func TestEngines(t *testing.T) {
	at := untied(t, "adk-python-v1")
	t.Chdir(t.TempDir())
	execute(t, at, "alter table events drop foreign key "+execute(t, at, "select constraint_name from information_schema.referential_constraints where constraint_schema = database()"), "alter table events modify user_id varchar(16), modify app_name varchar(16), modify session_id varchar(32), engine = MyISAM")
	before := rowsOf(t, at)
	if out, errors, code := sessctl(t, "check", at); code != 1 || !strings.Contains(out, "SC101") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, repairAll(at)...); code != 3 || !strings.Contains(flat(errors), "is kept by MyISAM, which has no transactions") || rowsOf(t, at) != before {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// TestAllDatabases: an address without a database stands for all in which the role finds sessions.
func TestAllDatabases(t *testing.T) {
	one, other := untied(t, "adk-python-v1"), untied(t, "spring-ai-session-0.8")
	database(t, "create table notes (id int)")
	roles(t, one, map[string]string{"looks": "select on DB.*;select on " + databaseOf(other) + ".*"})
	out, errors, code := sessctl(t, "check", strings.Replace(asRole(one, "looks"), databaseOf(one), "", 1))
	if code != 1 || !strings.Contains(out, "/"+databaseOf(one)+"?") || !strings.Contains(out, "/"+databaseOf(other)+"?") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}
