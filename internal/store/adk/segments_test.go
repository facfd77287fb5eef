package adk

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// TestWhoWroteABranch: only where tables or rows show it, an event counts as written by a
// version whose reader compares labels by segments.
func TestWhoWroteABranch(t *testing.T) {
	const (
		g1Table = goTables + goEvents + ");"
		g2Table = goTables + "CREATE TABLE `events` (`id` text,`app_name` text,`user_id` text,`session_id` text,`invocation_id` text,`author` text," +
			"`actions` blob,`node_info_json` text,`branch` text,`isolation_scope` text,`timestamp` datetime,`content` text);"
		migrated  = g1Table + "ALTER TABLE `events` ADD `node_info_json` text;"
		goRow     = "INSERT INTO events (id, app_name, user_id, session_id, author, branch, timestamp, content, actions) VALUES ('1','a','u','s','x','p.a',"
		pyRow     = "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, branch, timestamp, content, actions) VALUES ('1','a','u','s','i','x','p.a',"
		said      = `'{"parts":[{"text":"x"}],"role":"model"}',`
		goTime    = "'2025-11-10 10:00:00+00:00',"
		oldPascal = `X'7B225374617465446572C3A4223A7B7D7D'` // {"StateDer…":{}}
		pickle    = "X'80057D942E'"
		of        = `, '{"branch":"p.a","author":"x","invocation_id":"i","content":{"parts":[{"text":"x"}],"role":"model"}}')`
		inPS      = pyTables + fileEvents + ");" + "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data) VALUES ('1','a','u','s','i',"
	)
	for _, tc := range []struct {
		name, schema string
		want         bool
	}{
		{"a table of adk-go 2", g2Table + goRow + goTime + said + "'{}')", true},
		{"a table of adk-go 1 that version 2 added columns to", migrated + goRow + goTime + said + `'{"StateDelta":{}}')`, false},
		{"a row of 2.2 in it", migrated + goRow + goTime + said + `'{"stateDelta":{}}')`, true},
		{"a row of adk-go before 0.4", g1Table + goRow + goTime + said + `'{"StateDelta":{}}')`, false},
		{"a row of 0.4 or later", g1Table + goRow + goTime + said + `'{"StateDelta":{},"RequestedToolConfirmations":null}')`, true},
		{"actions that do not say", g1Table + goRow + goTime + said + oldPascal + ")", false},
		{"a table of adk-python 1.19", pyTables + v0Events + ", input_transcription TEXT);" + pyRow + "'2025-12-01 10:00:00.000000'," + said + pickle + ")", true},
		{"an older one that got the column later", pyTables + v0Events + "); ALTER TABLE events ADD input_transcription TEXT;" +
			pyRow + "'2025-01-01 10:00:00.000000'," + said + pickle + ")", false},
		{"one without the column", pyTables + v0Events + ");" + pyRow + "'2025-12-01 10:00:00.000000'," + said + pickle + ")", false},
		{"a document of today", inPS + "1767225600.5" + of, true},
		{"one that was taken over", inPS + "1735689600.5" + of, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, sessions := read(t, database(t, tc.schema+";"+strings.ReplaceAll("INSERT INTO sessions VALUES ('a','u','s','{}',TIME,TIME)", "TIME", "'2025-01-01 10:00:00.000000+00:00'")))
			if got := sessions["s"].Items[0].Flags.Has(session.BySegments); got != tc.want {
				t.Errorf("got %v; the item is %+v", got, sessions["s"].Items[0])
			}
		})
	}
}
