package adk

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store"
)

const (
	goTables = "CREATE TABLE `sessions` (`app_name` text,`user_id` text,`id` text,`state` text,`create_time` datetime,`update_time` datetime);"
	goEvents = "CREATE TABLE `events` (`id` text,`app_name` text,`user_id` text,`session_id` text,`invocation_id` text,`author` text," +
		"`actions` blob,`branch` text,`timestamp` datetime,`content` text"
	pyTables = `CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL,
		create_time DATETIME NOT NULL, update_time DATETIME NOT NULL);`
	pyEvents = `CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
		session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME NOT NULL`
	v0Events    = pyEvents + ", author VARCHAR(256) NOT NULL, branch VARCHAR(256), content TEXT, actions BLOB NOT NULL"
	metadata    = `CREATE TABLE adk_internal_metadata ("key" VARCHAR(128) PRIMARY KEY, value VARCHAR(256));`
	fileEvents  = `CREATE TABLE events (id TEXT NOT NULL, app_name TEXT, user_id TEXT, session_id TEXT, invocation_id TEXT, timestamp REAL NOT NULL, event_data TEXT NOT NULL`
	jsTables    = "CREATE TABLE `sessions` (`id` text not null,`app_name` text not null,`user_id` text not null,`state` json not null,`create_time` datetime not null,`update_time` datetime not null);"
	jsEvents    = "CREATE TABLE `events` (`id` text not null,`app_name` text not null,`user_id` text not null,`session_id` text not null,`invocation_id` text not null,`timestamp` datetime not null,`event_data` json not null)"
	insertWhole = "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data) VALUES ('1','a','u','s','i',"
	insert10    = "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, timestamp, actions) VALUES ('1','a','u','s','i','x',"
)

func TestDetect(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"pickled actions", goTables + goEvents + ");" + insert10 + "'2026-01-01 10:00:00.000000', X'80054E2E')", "P0"},
		{"actions in JSON", pyTables + v0Events + ");" + insert10 + "'2026-01-01 10:00:00.000000', X'7B7D')", "G1"},
		{"one pickle among JSON", goTables + goEvents + ");" + insert10 + "'2026-01-01 10:00:00+01:00', X'80054E2E');" +
			insert10 + "'2026-01-01 10:00:00+01:00', X'7B7D');" + insert10 + "'2026-01-01 10:00:00+01:00', X'7B7D');", "G1"},
		{"times with an offset", goTables + goEvents + ");" + insert10 + "'2026-01-01 10:00:00.5+01:00', NULL)", "G1"},
		{"times without one", goTables + goEvents + ");" + insert10 + "'2026-01-01 10:00:00.500000', NULL)", "P0"},
		{"the index of Python, no rows", goTables + goEvents + "); CREATE INDEX idx_events_app_user_session_ts ON events (app_name)", "P0"},
		{"keys of a length, no rows", pyTables + v0Events + ")", "P0"},
		{"keys that are texts, no rows", goTables + goEvents + ")", "G1"},
		{"columns of workflows", goTables + goEvents + ", node_info_json text)", "G2"},
		{"isolation scopes", goTables + goEvents + ", isolation_scope text)", "G2"},
		{"a document and a version", pyTables + metadata + pyEvents + ", event_data TEXT)", "P1"},
		{"a document without a version", pyTables + pyEvents + ", event_data TEXT)", "P1"},
		{"a document and a time that is a number", pyTables + fileEvents + ")", "PS"},
		{"unknown columns beside", pyTables + metadata + pyEvents + ", event_data TEXT, event_sequence INTEGER)", "P1"},

		{"JavaScript, no rows", jsTables + metadata + jsEvents, "J1"},
		{"JavaScript without a version", jsTables + jsEvents, "J1"},
		{"milliseconds in tables of Python", pyTables + metadata + pyEvents + ", event_data TEXT);" + insertWhole + "1795359831569, '{}')", "J1"},
		{"texts in tables of JavaScript", jsTables + metadata + jsEvents + ";" + insertWhole + "'2026-01-01 10:00:00.000000', '{}')", "P1"},

		{"no sessions", pyEvents + ", event_data TEXT)", ""},
		{"events of something else", pyTables + "CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT, timestamp DATETIME)", ""},
		{"neither a document nor actions", pyTables + pyEvents + ")", ""},
		{"sessions of something else", "CREATE TABLE sessions (id TEXT, messages TEXT, created_at TEXT);" + fileEvents + ")", ""},
		{"docker agent", "CREATE TABLE sessions (id TEXT, messages TEXT, created_at TEXT); CREATE TABLE session_items (id INTEGER)", ""},
		{"kagent", "CREATE TABLE session (id TEXT, user_id TEXT); CREATE TABLE event (id TEXT, user_id TEXT, session_id TEXT, data TEXT)", ""},
		{"Spring AI Session", "CREATE TABLE AI_SESSION (id TEXT, user_id TEXT); CREATE TABLE AI_SESSION_EVENT (id TEXT, session_id TEXT, timestamp TEXT)", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Kind.Detect(t.Context(), source(t, database(t, tc.schema)))
			if got.Generation != tc.want || (got.Sure == store.Certain) != (tc.want != "") {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
}

func TestFactsOfASchema(t *testing.T) {
	for _, tc := range []struct {
		name, schema string
		readOnly     bool
		runtime      string
	}{
		{"version 1", pyTables + metadata + pyEvents + ", event_data TEXT); INSERT INTO adk_internal_metadata VALUES ('schema_version', '1')",
			false, "written by adk-python 1.22.0 or later (DatabaseSessionService)"},
		{"version 2", pyTables + metadata + pyEvents + ", event_data TEXT); INSERT INTO adk_internal_metadata VALUES ('schema_version', '2')",
			true, "written by adk-python 1.22.0 or later (DatabaseSessionService)"},
		{"no version", pyTables + metadata + pyEvents + ", event_data TEXT)", true, "written by adk-python 1.22.0 or later (DatabaseSessionService)"},
		{"the first columns", pyTables + v0Events + ")", false, "written by adk-python (DatabaseSessionService); its tables were created by 0.1 or 0.2"},
		{"some later columns", pyTables + v0Events + ", long_running_tool_ids_json TEXT, custom_metadata TEXT)", false,
			"written by adk-python (DatabaseSessionService); its tables were created by 1.14 or later, before 1.17"},
		{"all columns", pyTables + v0Events + ", input_transcription TEXT)", false,
			"written by adk-python (DatabaseSessionService); its tables were created by 1.19 or later"},
		{"Go", goTables + goEvents + ")", false, "written by adk-go v0.1 to v1.6"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts, _ := read(t, database(t, tc.schema))
			if (facts.ReadOnly != "") != tc.readOnly || len(facts.Faults) > 0 != tc.readOnly || facts.Versions != tc.runtime {
				t.Errorf("read-only %q, faults %v, runtime %q", facts.ReadOnly, facts.Faults, facts.Versions)
			}
		})
	}
}
