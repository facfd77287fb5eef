package kagent

import (
	"fmt"
	"slices"
	"strings"
)

// The tables, as GORM and the migrations name them (a2, a3).
const (
	tableSessions = "session"
	tableEvents   = "event"
	tableTasks    = "task"
)

// schema are the tables of a database with their columns.
type schema map[string][]string

func (s schema) has(table string, columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(s[table], c) })
}

// known are the columns of the tables: those of every release that is read, and
// those that later ones brought.
var known = []struct {
	table         string
	always, later []string
}{
	{tableSessions, []string{"id", "name", "user_id", "created_at", "updated_at", "deleted_at", "agent_id"}, []string{"source"}},
	{tableEvents, []string{"id", "session_id", "user_id", "created_at", "updated_at", "deleted_at", "data"}, nil},
	{tableTasks, []string{"id", "created_at", "updated_at", "deleted_at", "data", "session_id"}, []string{"protocol_version", "user_id"}},
}

// generations are the forms of the tables by the column that came last, the newest
// first, with the release that brought it.
var generations = []struct{ table, column, release, runtime string }{
	{tableTasks, "user_id", "0.10.0", "kagent 0.10.0-beta11 or later"},
	{tableTasks, "protocol_version", "0.9.7", "kagent 0.9.7 to 0.10.0-beta10"},
	{tableSessions, "source", "0.8.0", "kagent 0.8.0-beta9 to 0.9.6"},
	{tableSessions, "id", "0.5.0", "kagent 0.5.0 to 0.8.0-beta8"},
}

func (s schema) generation() string { release, _ := s.release(); return release }

// release is the first release that made such tables, and those that did.
func (s schema) release() (first, all string) {
	for _, g := range generations {
		if s.has(g.table, g.column) {
			return g.release, g.runtime
		}
	}
	return "", ""
}

// oddities are the ways in which the tables differ from those of every known
// release.
func (s schema) oddities() []string {
	var list []string
	for _, t := range known {
		missing := slices.DeleteFunc(slices.Clone(t.always), func(c string) bool { return s.has(t.table, c) })
		if len(missing) > 0 {
			list = append(list, t.table+" lacks "+strings.Join(missing, ", "))
		}
		odd := slices.DeleteFunc(slices.Clone(s[t.table]), func(c string) bool {
			return slices.Contains(t.always, c) || slices.Contains(t.later, c)
		})
		if len(odd) > 0 {
			list = append(list, fmt.Sprintf("nothing is known of %s in %s", strings.Join(odd, ", "), t.table))
		}
	}
	return list
}
