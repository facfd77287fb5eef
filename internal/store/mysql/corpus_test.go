//go:build unix

package mysql_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"
)

const corpus = "../../../../shared/corpus/postgres"

// recorded are the databases of the corpus whose runtimes keep their sessions in MySQL as well.
var recorded = []string{"adk-go-1.5.0", "adk-go-2.2.0", "adk-python-v0", "adk-python-v1", "spring-ai-session-0.8"}

// The tables that the runtimes make in MySQL: SQLAlchemy's and gorm's types (LONGTEXT for
// documents, DATETIME(6) for times, LONGBLOB for actions; varchar(191) is gorm's for keys), and
// schema-mysql.sql of Spring AI Session.
const (
	foreignKey   = `, foreign key (app_name, user_id, session_id) references sessions (app_name, user_id, id) on delete cascade)`
	pythonTables = `create table app_states (app_name varchar(128) not null primary key, state longtext not null, update_time datetime(6) not null);
create table user_states (app_name varchar(128) not null, user_id varchar(128) not null, state longtext not null, update_time datetime(6) not null, primary key (app_name, user_id));
create table sessions (app_name varchar(128) not null, user_id varchar(128) not null, id varchar(128) not null, state longtext not null, create_time datetime(6) not null,
  update_time datetime(6) not null, primary key (app_name, user_id, id));
`
	goTables = `create table app_states (app_name varchar(191) primary key, state longtext, update_time datetime(6));
create table user_states (app_name varchar(191), user_id varchar(191), state longtext, update_time datetime(6), primary key (app_name, user_id));
create table sessions (app_name varchar(191), user_id varchar(191), id varchar(191), state longtext, create_time datetime(6), update_time datetime(6), primary key (app_name, user_id, id));
create table events (id varchar(191), app_name varchar(191), user_id varchar(191), session_id varchar(191), invocation_id longtext, author longtext, actions longblob, long_running_tool_ids_json longtext, `
	goRest = `content longtext, grounding_metadata longtext, custom_metadata longtext, usage_metadata longtext, citation_metadata longtext, partial tinyint(1), turn_complete tinyint(1),
  error_code longtext, error_message longtext, interrupted tinyint(1), primary key (id, app_name, user_id, session_id)` + foreignKey
	springTables = `CREATE TABLE AI_SESSION (id VARCHAR(255) NOT NULL PRIMARY KEY, user_id VARCHAR(255) NOT NULL, created_at DATETIME(6) NOT NULL, expires_at DATETIME(6) NULL,
  metadata LONGTEXT, event_version BIGINT NOT NULL DEFAULT 0);
CREATE TABLE AI_SESSION_EVENT (seq BIGINT NOT NULL AUTO_INCREMENT, id VARCHAR(255) NOT NULL PRIMARY KEY, session_id VARCHAR(255) NOT NULL, timestamp DATETIME(6) NOT NULL,
  message_type VARCHAR(20) NOT NULL, message_content LONGTEXT, message_data LONGTEXT, synthetic TINYINT(1) NOT NULL DEFAULT 0, archived TINYINT(1) NOT NULL DEFAULT 0,
  branch VARCHAR(500) NULL, metadata LONGTEXT, UNIQUE KEY uq_ai_session_event_seq (seq), KEY idx_ai_session_event_session_seq (session_id, seq),
  CONSTRAINT fk_ai_session_event_session FOREIGN KEY (session_id) REFERENCES AI_SESSION (id) ON DELETE CASCADE)`
)

var tablesOf = map[string]string{
	"adk-go-1.5.0": goTables + "branch longtext, timestamp datetime(6), " + goRest,
	"adk-go-2.2.0": goTables + "routes_json longtext, output_json longtext, node_info_json longtext, requested_input_json longtext, branch longtext, isolation_scope longtext, timestamp datetime(6), " + goRest,
	"adk-python-v0": pythonTables + `create table events (id varchar(128) not null, app_name varchar(128) not null, user_id varchar(128) not null, session_id varchar(128) not null, invocation_id varchar(256) not null,
  author varchar(256) not null, branch varchar(256), timestamp datetime(6) not null, content longtext, actions longblob not null, long_running_tool_ids_json text, grounding_metadata longtext,
  partial tinyint(1), turn_complete tinyint(1), error_code varchar(256), error_message varchar(1024), interrupted tinyint(1), primary key (id, app_name, user_id, session_id)` + foreignKey,
	"adk-python-v1": pythonTables + "create table adk_internal_metadata (`key` varchar(128) primary key, value varchar(256));" + `
create table events (id varchar(128) not null, app_name varchar(128) not null, user_id varchar(128) not null, session_id varchar(128) not null, invocation_id varchar(256) not null,
  timestamp datetime(6) not null, event_data longtext, primary key (id, app_name, user_id, session_id)` + foreignKey,
	"spring-ai-session-0.8": springTables,
}

// What differs in a statement that adds rows: bytes, and times with a zone.
var (
	created = regexp.MustCompile(`(?s)CREATE TABLE public\.(\w+) \((.*?)\n\);`)
	added   = regexp.MustCompile(`(?s)INSERT INTO public\.(\w+) VALUES\n.*?\);\n`)
	bytea   = regexp.MustCompile(`'\\x([0-9a-f]*)'`)
	zoned   = regexp.MustCompile(`'(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\+00'`)
)

// load makes a database of a recorded dump of PostgreSQL, in the tables that the runtime makes in
// MySQL.
func load(t testing.TB, name string) (at, dump string) {
	t.Helper()
	dump = filepath.Join(corpus, name)
	text, err := os.ReadFile(dump + ".sql")
	if err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/postgres)")
	}
	columns := map[string]string{}
	for _, m := range created.FindAllStringSubmatch(string(text), -1) {
		var names []string
		for line := range strings.Lines(m[2]) {
			if word := strings.Fields(line); len(word) > 1 {
				names = append(names, `"`+strings.Trim(word[0], `"`)+`"`)
			}
		}
		columns[m[1]] = strings.Join(names, ", ")
	}
	statements := []string{"set foreign_key_checks = 0"}
	for _, m := range added.FindAllStringSubmatch(string(text), -1) {
		rows := zoned.ReplaceAllString(bytea.ReplaceAllString(strings.TrimSuffix(m[0], ";\n"), "x'$1'"), "'$1'")
		to := m[1]
		if strings.HasPrefix(to, "ai_") {
			to = strings.ToUpper(to)
		}
		statements = append(statements, strings.Replace(rows, "INTO public."+m[1], "INTO "+to+" ("+columns[m[1]]+")", 1))
	}
	return database(t, append([]string{tablesOf[name]}, strings.Join(statements, ";\n"))...), dump
}

// untied is a database of a recorded dump without the session whose events have one time: what is
// said of their order differs (TestTies).
func untied(t testing.TB, name string) (at string) {
	t.Helper()
	at, _ = load(t, name)
	if strings.HasPrefix(name, "adk") {
		execute(t, at, "delete from sessions where id = 'tied'")
	}
	return at
}

// TestTies: of events of one time nobody says in which order they were written, and a repair that
// makes their order last has to be allowed.
func TestTies(t *testing.T) {
	at, _ := load(t, "adk-python-v1")
	out, _, _ := sessctl(t, "why", at, "tied")
	if !strings.Contains(flat(out), "nothing tells which was written first") {
		t.Error(out)
	}
	t.Chdir(t.TempDir())
	before := rowsOf(t, at)
	if out, errors, _ := sessctl(t, "repair", at, "--session", "tied", "--yes"); !strings.Contains(flat(out+errors), "--allow reorder") || rowsOf(t, at) != before {
		t.Errorf("%s%s", out, errors)
	}
	if out, errors, code := sessctl(t, "repair", at, "--session", "tied", "--allow", "reorder", "--yes"); code != 0 || rowsOf(t, at) == before {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "undo", at, "--yes"); code != 0 || rowsOf(t, at) != before {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// finding is one as the corpus lists it.
type finding struct{ Rule, Severity, Session string }

// TestCorpus: a check finds what the check of the same rows in PostgreSQL and SQLite does.
func TestCorpus(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			at, dump := load(t, name)
			out, errors, _ := sessctl(t, "check", "--format", "json", "--severity", "info", at)
			var report struct{ Findings []finding }
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatalf("%v\n%s%s", err, out, errors)
			}
			var want []finding
			listed, err := os.ReadFile(dump + ".findings.json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(listed, &want); err != nil {
				t.Fatal(err)
			}
			// Told since the list was made, as in the test of PostgreSQL.
			want = slices.DeleteFunc(want, func(f finding) bool { return f.Rule == "SC105" })
			for i := range want {
				if want[i].Rule == "SC722" && name == "adk-python-v1" {
					want[i].Severity = "info"
				}
			}
			if diff := difference.Diff(sorted(want), sorted(report.Findings)); diff != "" {
				t.Errorf("%s\n%s", diff, errors)
			}
		})
	}
}

func sorted(list []finding) []finding {
	slices.SortFunc(list, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.Session, b.Session), strings.Compare(a.Severity, b.Severity))
	})
	return list
}

// TestCollations: where the column overlooks case, so does the runtime's filter, and a check says
// so; what sessctl itself compares is exact.
func TestCollations(t *testing.T) {
	at, _ := load(t, "spring-ai-session-0.8")
	execute(t, at, "insert into AI_SESSION values ('Agents', 'bob', now(6), null, '{}', 2)", `insert into AI_SESSION_EVENT (id, session_id, timestamp, message_type, message_content, branch, metadata) values
  ('b1', 'Agents', now(6), 'USER', 'hello', null, '{}'), ('b2', 'Agents', now(6), 'ASSISTANT', 'one', 'Agent', '{}'), ('b3', 'Agents', now(6), 'ASSISTANT', 'two', 'agent', '{}')`)
	filter := "select group_concat(id order by seq) from AI_SESSION_EVENT where session_id = 'Agents' and (branch is null or branch = 'agent' or 'agent' like concat(branch, '.%'))"
	for _, tt := range []struct{ collation, shown, rule string }{{"utf8mb4_bin", "b1,b3", "SC724"}, {"utf8mb4_general_ci", "b1,b2,b3", "SC732"}} {
		execute(t, at, "alter table AI_SESSION_EVENT modify branch varchar(500) collate "+tt.collation+" null")
		if shown := execute(t, at, filter); shown != tt.shown {
			t.Errorf("%s: the filter shows %s", tt.collation, shown)
		}
		out, _, _ := sessctl(t, "check", at, "--session", "Agents", "--format", "json")
		if strings.Count(out, `"SC732"`)+strings.Count(out, `"SC724"`) != 2 || strings.Count(out, `"`+tt.rule+`"`) != 2 {
			t.Errorf("%s: %s", tt.collation, out)
		}
	}
	before := rowsOf(t, at)
	execute(t, at, "alter database collate utf8mb4_general_ci")
	execute(t, at, "alter table AI_SESSION_EVENT drop foreign key fk_ai_session_event_session",
		"alter table AI_SESSION_EVENT convert to character set utf8mb4 collate utf8mb4_general_ci", "alter table AI_SESSION convert to character set utf8mb4 collate utf8mb4_general_ci",
		"alter table AI_SESSION_EVENT add constraint fk_ai_session_event_session foreign key (session_id) references AI_SESSION (id) on delete cascade")
	if rowsOf(t, at) != before {
		t.Fatal("other rows")
	}
	execute(t, at, "delete from AI_SESSION where id = 'agents'") // in whatever case
	repairedAndBack(t, at)
}
