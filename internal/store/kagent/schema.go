package kagent

import (
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The tables, as GORM and the migrations name them (a2, a3).
const (
	tableSessions = "session"
	tableEvents   = "event"
	tableTasks    = "task"
)

// schema is what a database has.
type schema struct{ table.Schema }

// known are the columns of the tables: those of every release that is read, and
// those that later ones brought.
var known = []eventlog.Known{
	{Table: tableSessions, Needed: []string{"id", "name", "user_id", "created_at", "updated_at", "deleted_at", "agent_id"}, Further: []string{"source"}},
	{Table: tableEvents, Needed: []string{"id", "session_id", "user_id", "created_at", "updated_at", "deleted_at", "data"}},
	{Table: tableTasks, Needed: []string{"id", "created_at", "updated_at", "deleted_at", "data", "session_id"}, Further: []string{"protocol_version", "user_id"}},
}

// generations are the forms of the tables by the column that came last, the newest
// first, with the release that brought it.
var generations = []struct{ table, column, release, runtime string }{
	{tableTasks, "user_id", "0.10.0", "kagent 0.10.0-beta11 or later"},
	{tableTasks, "protocol_version", "0.9.7", "kagent 0.9.7 to 0.10.0-beta10"},
	{tableSessions, "source", "0.8.0", "kagent 0.8.0-beta9 to 0.9.6"},
	{tableSessions, "id", "0.5.0", "kagent 0.5.0 to 0.8.0-beta8"},
}

// tableHistory is the mark of the baseline with which kagent begins anew for 1.0, headed
// "development databases must be recreated": conversations are in tables of histories,
// tasks and their events, in Protobuf, and branches of a conversation share their start.
const tableHistory = "agent_history"

// isBaseline reports whether the tables are those of 1.0, also beside older ones.
func (s schema) isBaseline() bool {
	return s.Has(tableHistory, "id", "context_id", "parent_history_id")
}

func (s schema) generation() string { release, _ := s.release(); return release }

// release is the first release that made such tables, and those that did.
func (s schema) release() (first, all string) {
	for _, g := range generations {
		if s.Has(g.table, g.column) {
			return g.release, g.runtime
		}
	}
	return "", ""
}
