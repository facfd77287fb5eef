package adk

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// tables are the columns that the services make (1.1 to 1.4), and those that single
// versions of adk-python make besides.
var tables = []eventlog.Known{
	{Table: tableSessions, Needed: []string{"app_name", "user_id", "id", "state"}, Further: []string{"create_time", "update_time", "title", "event_sequence"}},
	{
		Table:  tableEvents,
		Needed: []string{"id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"},
		Further: slices.Concat(
			[]string{"event_data", "author", "branch", "isolation_scope", "content", "actions", "partial", "turn_complete", "interrupted", "error_code", "error_message"},
			[]string{"long_running_tool_ids_json", "node_info_json", "input_transcription", "output_transcription"}, metadataColumns,
		),
	},
}

// examine adds what the database has that is not known.
func (g generation) examine(ctx context.Context, db table.Reader, s table.Schema, facts *session.Store) error {
	later, err := eventlog.Examine(ctx, db, s, tables, tableEvents)
	at := session.Ref{Table: tableEvents, Key: "*"}
	if wrong := g.unknownVersion(ctx, db, s); wrong != "" {
		at = session.Ref{Table: tableMetadata, Key: "schema_version"}
		later.Found, later.Doubts = wrong, append(later.Doubts, "what else that version changed is not known")
	}
	if later.Found != "" {
		facts.Faults, facts.ReadOnly = append(facts.Faults, later.Fault(at)), later.ReadOnly()
	}
	return err
}
