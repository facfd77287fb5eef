package adktest

import (
	"fmt"
	"slices"
	"strings"
)

// Generation is what a database is written as.
type Generation string

// The generations, by the names of the notes. P0First has the columns of
// adk-python 0.1, P0 those of 1.19; G1 is adk-go 1.x and G2 adk-go 2.2, which
// write the actions with the names of Go's fields and in camel case. J1 is adk-js 2.0.
const (
	P0First Generation = "P0-first"
	P0      Generation = "P0"
	P1      Generation = "P1"
	PS      Generation = "PS"
	G1      Generation = "G1"
	G2      Generation = "G2"
	J1      Generation = "J1"
)

// Generations are all of them.
var Generations = []Generation{P0First, P0, P1, PS, G1, G2, J1}

func (g Generation) isGo() bool { return g == G1 || g == G2 }

// inJSON reports whether an event is one document instead of columns.
func (g Generation) inJSON() bool { return g == P1 || g == PS || g == J1 }

// Lacks says what of a session the generation has no place for, "" when it has one
// for everything.
func (g Generation) Lacks(s Session) string {
	for _, e := range s.Events {
		switch {
		case (e.Scope != "" || e.Node != "") && !g.inJSON() && g != G2:
			return "isolation scopes and node paths"
		case strings.HasPrefix(e.Branch, "{") && (!g.inJSON() || g == J1):
			return "branches that are no path"
		case e.Actions.RewindBefore != "" && g == J1:
			return "rewind"
		case (e.Actions.Compaction != nil || e.Actions.RewindBefore != "") && g.isGo():
			return "compaction and rewind"
		case len(e.Waits) > 0 && g == P0First:
			return "long-running calls"
		case len(e.Parts) == 0 && g == P0First:
			return "events without content"
		}
	}
	return ""
}

func (g Generation) schema() []string {
	switch g {
	case P1:
		return slices.Concat(pythonSessions, []string{
			`CREATE TABLE adk_internal_metadata ("key" VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY ("key"))`,
			`INSERT INTO adk_internal_metadata VALUES ('schema_version', '1')`,
			pythonEvents("invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME NOT NULL, event_data TEXT"),
			pythonIndex,
		})
	case PS:
		return fileSessions
	case J1:
		return jsSessions
	case G1:
		return slices.Concat(goSessions, []string{goEvents("")})
	case G2:
		return slices.Concat(goSessions, []string{goEvents("`routes_json` text,`output_json` text,`node_info_json` text,`requested_input_json` text,")})
	case P0First:
		return slices.Concat(pythonSessions, []string{pythonEvents(firstColumns + ", content TEXT NOT NULL, actions BLOB NOT NULL")})
	}
	return slices.Concat(pythonSessions, []string{pythonEvents(firstColumns + ", content TEXT, actions BLOB NOT NULL" + laterColumns), pythonIndex})
}

const (
	firstColumns = "invocation_id VARCHAR(256) NOT NULL, author VARCHAR(256) NOT NULL, branch VARCHAR(256), timestamp DATETIME NOT NULL"
	laterColumns = ", long_running_tool_ids_json TEXT, grounding_metadata TEXT, custom_metadata TEXT, usage_metadata TEXT, citation_metadata TEXT" +
		", partial BOOLEAN, turn_complete BOOLEAN, error_code VARCHAR(256), error_message TEXT, interrupted BOOLEAN" +
		", input_transcription TEXT, output_transcription TEXT"
	pythonIndex = "CREATE INDEX idx_events_app_user_session_ts ON events (app_name, user_id, session_id, timestamp DESC)"
)

var pythonSessions = []string{
	"CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL, " +
		"create_time DATETIME NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id, id))",
	"CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name))",
	"CREATE TABLE user_states (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, " +
		"PRIMARY KEY (app_name, user_id))",
}

func pythonEvents(columns string) string {
	return "CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, " +
		"session_id VARCHAR(128) NOT NULL, " + columns + ", PRIMARY KEY (id, app_name, user_id, session_id), " +
		"FOREIGN KEY(app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE)"
}

var fileSessions = []string{
	"CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL)",
	"CREATE TABLE user_states (app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id))",
	"CREATE TABLE sessions (app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, create_time REAL NOT NULL, " +
		"update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id, id))",
	"CREATE TABLE events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL, " +
		"timestamp REAL NOT NULL, event_data TEXT NOT NULL, PRIMARY KEY (app_name, user_id, session_id, id), " +
		"FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions(app_name, user_id, id) ON DELETE CASCADE)",
}

var jsSessions = []string{
	"create table `adk_internal_metadata` (`key` text not null, `value` text not null, primary key (`key`))",
	"insert into adk_internal_metadata values ('schema_version', '1')",
	"create table `app_states` (`app_name` text not null, `state` json not null, `update_time` datetime not null, primary key (`app_name`))",
	"create table `user_states` (`app_name` text not null, `user_id` text not null, `state` json not null, `update_time` datetime not null, " +
		"primary key (`app_name`, `user_id`))",
	"create table `sessions` (`id` text not null, `app_name` text not null, `user_id` text not null, `state` json not null, " +
		"`create_time` datetime not null, `update_time` datetime not null, primary key (`id`, `app_name`, `user_id`))",
	"create table `events` (`id` text not null, `app_name` text not null, `user_id` text not null, `session_id` text not null, " +
		"`invocation_id` text not null, `timestamp` datetime not null, `event_data` json not null, primary key (`id`, `app_name`, `user_id`, `session_id`))",
}

var goSessions = []string{
	"CREATE TABLE `sessions` (`app_name` text,`user_id` text,`id` text,`state` text,`create_time` datetime,`update_time` datetime,PRIMARY KEY (`app_name`,`user_id`,`id`))",
	"CREATE TABLE `app_states` (`app_name` text,`state` text,`update_time` datetime,PRIMARY KEY (`app_name`))",
	"CREATE TABLE `user_states` (`app_name` text,`user_id` text,`state` text,`update_time` datetime,PRIMARY KEY (`app_name`,`user_id`))",
}

// goEvents is the table of events; the columns of 2.x come with the first of them.
func goEvents(workflow string) string {
	scope := ""
	if workflow != "" {
		scope = "`isolation_scope` text,"
	}
	return fmt.Sprintf("CREATE TABLE `events` (`id` text,`app_name` text,`user_id` text,`session_id` text,`invocation_id` text,`author` text,"+
		"`actions` blob,`long_running_tool_ids_json` text,%s`branch` text,%s`timestamp` datetime,`content` text,`grounding_metadata` text,"+
		"`custom_metadata` text,`usage_metadata` text,`citation_metadata` text,`partial` numeric,`turn_complete` numeric,`error_code` text,"+
		"`error_message` text,`interrupted` numeric,PRIMARY KEY (`id`,`app_name`,`user_id`,`session_id`),CONSTRAINT `fk_sessions_events` "+
		"FOREIGN KEY (`app_name`,`user_id`,`session_id`) REFERENCES `sessions`(`app_name`,`user_id`,`id`) ON DELETE CASCADE)", workflow, scope)
}
