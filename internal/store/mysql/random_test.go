//go:build unix

package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// runtimes write random programs into a file, whose rows the tables get that the runtime makes in
// MySQL.
var runtimes = map[string]struct {
	tables string
	write  func(path string, seed uint64) error
}{
	"adk-go 1":             {tablesOf["adk-go-1.5.0"], adk(adktest.G1)},
	"adk-go 2":             {tablesOf["adk-go-2.2.0"], adk(adktest.G2)},
	"adk-python, schema 1": {tablesOf["adk-python-v1"], adk(adktest.P1)},
	"adk-python, schema 0": {strings.Replace(tablesOf["adk-python-v0"], "content longtext,", `content longtext, custom_metadata longtext, usage_metadata longtext, citation_metadata longtext,
  input_transcription longtext, output_transcription longtext,`, 1), adk(adktest.P0)},
	"Spring AI Session": {springTables, func(path string, seed uint64) error {
		db, err := springtest.Create(path, springtest.Form{})
		if err == nil {
			springtest.Random(db, "s1", seed, 6)
			springtest.Whole(db, "s2", seed, 4)
			springtest.Interrupted(db, "s3", seed, 4)
		}
		return errors.Join(err, db.Close())
	}},
}

func adk(g adktest.Generation) func(path string, seed uint64) error {
	return func(path string, seed uint64) error {
		return adktest.Create(path, g, g.Random(seed, 12), g.Random(seed+1000, 6))
	}
}

// transfer copies the rows of a file into the tables of the same names of a database.
func transfer(t testing.TB, path, at string) {
	t.Helper()
	from, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	ctx := context.Background()
	conn := dialTarget(t, at)
	defer func() { _ = conn.Close() }()
	for _, statement := range []string{"set foreign_key_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "start transaction"} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	for name := range strings.SplitSeq(execute(t, at, "select group_concat(table_name) from information_schema.tables where table_schema = database()"), ",") {
		rows, err := from.QueryContext(ctx, "select * from "+name)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		insert := "insert into " + name + " (`" + strings.Join(columns, "`, `") + "`) values (?" + strings.Repeat(", ?", len(columns)-1) + ")"
		for rows.Next() {
			values, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				to[i] = &values[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if text, ok := v.(string); ok && offset.MatchString(text) {
					values[i] = offset.ReplaceAllString(text, "$1")
				}
			}
			if _, err := conn.ExecContext(ctx, insert, values...); err != nil {
				t.Fatalf("%v\n%s %.200q", err, insert, values)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.ExecContext(ctx, "commit"); err != nil {
		t.Fatal(err)
	}
}

// offset is behind a time of adk-go in SQLite; the driver of MySQL stores UTC without it.
var offset = regexp.MustCompile(`^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)[+-]\d\d:\d\d$`)

// said is what a command says of sessions, but for their order, which follows the rows, and
// for the numbers that the server gave out.
func said(out string) []string {
	number := regexp.MustCompile(`"(?:seq|id)":\d+|"seconds": [\d.e-]+|"(path|version|store)": ".*"|"bytes": \d+`)
	lines := strings.Split(number.ReplaceAllString(out, ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], ",")
	}
	slices.Sort(lines)
	return lines
}

// TestRepairsOfRandomPrograms: whatever programs do, a repair in MariaDB makes of the sessions
// what that of the same rows in a file makes, and an undo gives every row back.
func TestRepairsOfRandomPrograms(t *testing.T) {
	socket(t)
	for name, runtime := range runtimes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(campaign.Rounds(15, 100)) {
				path := filepath.Join(t.TempDir(), "program.db")
				if err := runtime.write(path, seed); err != nil {
					t.Fatal(seed, err)
				}
				at := database(t, runtime.tables)
				transfer(t, path, at)
				if strings.HasPrefix(name, "adk") { // events of one time: TestTies
					execute(t, at, "delete from sessions where id in (select session_id from (select session_id, count(*) n, count(distinct timestamp) d from events group by session_id) x where n <> d)")
				}
				repairedAsAFile(t, at)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// repairedAsAFile repairs a database and a file with the same rows, and undoes the former.
func repairedAsAFile(t *testing.T, at string) {
	t.Helper()
	file := twin(t, at)
	t.Chdir(t.TempDir())
	before := rowsOf(t, at)
	words := []string{"--yes", "--assume-dead", "--allow", "reorder,lossy,prune,guesses,split,waiting,unknown-form", "--fail-on", "never"}
	out, errors, code := sessctl(t, append([]string{"repair", at}, words...)...)
	if _, fileErrors, fileCode := sessctl(t, append([]string{"repair", file}, words...)...); fileCode != code || code != 0 {
		t.Fatalf("exit codes %d and of the file %d\n%s%s%s", code, fileCode, out, errors, fileErrors)
	}
	for _, words := range [][]string{{"check", "--format", "json", "--severity", "info", "--assume-dead"}, {"export"}} {
		want, _, _ := sessctl(t, append(slices.Clone(words), file)...)
		got, _, _ := sessctl(t, append(slices.Clone(words), at)...)
		if diff := difference.Diff(said(want), said(got)); diff != "" {
			t.Errorf("%s\n%s", words, diff)
		}
	}
	if !strings.Contains(out, "Undo with") {
		return
	}
	if again, errors, code := sessctl(t, append([]string{"repair", at}, words...)...); code != 0 || strings.Contains(again, "Undo with") {
		t.Errorf("again: exit code %d\n%s%s", code, again, errors)
	}
	if out, errors, code := sessctl(t, "undo", at, "--yes"); code != 0 {
		t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
	}
	if now := rowsOf(t, at); now != before {
		t.Error("an undo leaves other rows")
	}
}

// TestAgentsSDK: the sessions that SQLAlchemySession of the OpenAI Agents SDK keeps are repaired as the
// same rows in a file are. A foreign key keeps messages without a session from coming about.
func TestAgentsSDK(t *testing.T) {
	socket(t)
	stored, err := os.ReadFile("../../../../shared/corpus/openai-agents/plain.db")
	if err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/openai-agents)")
	}
	path := filepath.Join(t.TempDir(), "agents.db")
	if err := os.WriteFile(path, stored, 0o600); err != nil {
		t.Fatal(err)
	}
	at := database(t, `create table agent_sessions (session_id varchar(255) not null primary key,
  created_at timestamp not null default current_timestamp, updated_at timestamp not null default current_timestamp)`,
		`create table agent_messages (id integer not null auto_increment primary key, session_id varchar(255) not null, message_data text not null,
  created_at timestamp not null default current_timestamp, foreign key (session_id) references agent_sessions (session_id) on delete cascade)`)
	transfer(t, path, at)
	execute(t, at, "delete from agent_messages where session_id not in (select session_id from agent_sessions)")
	if out, _, code := sessctl(t, "check", at); code != 1 || !strings.Contains(out, "in 9 of 12 sessions") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	repairedAsAFile(t, at)
}

// TestAgentsSDKTimes: SQLAlchemySession sends messages in the order of their times, which are TIMESTAMPs.
func TestAgentsSDKTimes(t *testing.T) {
	at := database(t, `create table agent_sessions (session_id varchar(255) not null primary key,
  created_at timestamp not null default current_timestamp, updated_at timestamp not null default current_timestamp)`,
		`create table agent_messages (id integer not null auto_increment primary key, session_id varchar(255) not null, message_data text not null,
  created_at timestamp not null default current_timestamp, foreign key (session_id) references agent_sessions (session_id) on delete cascade, index (session_id, created_at))`,
		"insert into agent_sessions values ('s', '2026-11-22 09:00:01', '2026-11-22 09:00:01')",
		`insert into agent_messages (session_id, message_data, created_at) values ('s', '{"role":"user","content":"later"}', '2026-11-22 09:00:02'), ('s', '{"role":"user","content":"sooner"}', '2026-11-22 09:00:01')`)
	out, errors, code := sessctl(t, "export", at)
	if first, second, _ := strings.Cut(out, "sooner"); code != 0 || !strings.Contains(first, `"created":"2026-11-22T09:00:01Z"`) || !strings.Contains(second, "later") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	execute(t, at, "set foreign_key_checks = 0", "delete from agent_sessions") // as an import without checks may leave it
	if out, errors, code := sessctl(t, "repair", at, "--dry-run"); code != 0 || !strings.Contains(out, "nothing that sessctl can repair") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// TestManySessions: batch after batch is repaired and taken back.
func TestManySessions(t *testing.T) {
	at := database(t, tablesOf["adk-python-v1"], many(1000, 20))
	t.Chdir(t.TempDir())
	out, errors, code := sessctl(t, repairAll(at)...)
	if code != 0 || !strings.Contains(out, "Undo with") {
		t.Fatalf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "undo", at, "--yes"); code != 0 {
		t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
	}
	if n := execute(t, at, "select count(*) from events"); n != "20000" {
		t.Errorf("%s events", n)
	}
}

// many are statements for sessions of so many events, every tenth of which ends with a call.
func many(sessions, events int) string {
	const text = `'{"author":"user","content":{"role":"user","parts":[{"text":"' || repeat(md5(s.seq * 100 + e.seq), 8) || '"}]}}'`
	const call = `'{"author":"a","content":{"role":"model","parts":[{"function_call":{"id":"c","name":"f","args":{}}}]}}'`
	return fmt.Sprintf(`insert into adk_internal_metadata values ('schema_version', '1');
insert into sessions select 'app', 'u' || (seq %% 100), 's' || seq, '{}', '2026-01-01', '2026-02-01' from seq_1_to_%d;
insert into events select uuid(), 'app', 'u' || (s.seq %% 100), 's' || s.seq, 'i', timestamp('2026-01-01') + interval e.seq second, if(e.seq = %d and s.seq %% 10 = 0, %s, %s) from seq_1_to_%d s, seq_1_to_%d e`,
		sessions, events, call, text, sessions, events)
}
