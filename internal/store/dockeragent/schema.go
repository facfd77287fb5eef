package dockeragent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// newest is the last migration that this adapter knows (2.1).
const newest = 29

// schema is what a database has, and the generation that its migrations record.
type schema struct {
	columns    map[string][]string
	generation int // the highest migration; 0 for the bootstrap schema
}

func newSchema(columns map[string][]string) schema { return schema{columns: columns} }

func (s *schema) has(table, column string) bool { return slices.Contains(s.columns[table], column) }

// pick keeps the columns that the table has, in the order asked for.
func (s *schema) pick(table string, wanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(c string) bool { return !s.has(table, c) })
}

func (s *schema) hasItems() bool  { return s.has("session_items", "message_json") }
func (s *schema) hasColumn() bool { return s.has("sessions", "messages") }

// Generation is the name of the schema generation: "018".
func (s *schema) name() string { return fmt.Sprintf("%03d", s.generation) }

// readSchema reads columns and migrations, and reports where they disagree.
func readSchema(ctx context.Context, db *sqlite.DB) (schema, []session.Fault, error) {
	columns, err := db.Columns(ctx)
	if err != nil {
		return schema{}, nil, err
	}
	s := newSchema(columns)
	if s.has("migrations", "id") {
		if err := db.QueryRow(ctx, "select coalesce(max(id), 0) from migrations").Scan(&s.generation); err != nil {
			return schema{}, nil, err
		}
	}
	var faults []session.Fault
	fault := func(format string, args ...any) {
		faults = append(faults, session.Fault{
			Kind: session.SchemaUnknown, Item: -1, Ref: session.Ref{Table: "migrations", Key: s.name()},
			Detail: fmt.Sprintf(format, args...),
		})
	}
	if s.generation > newest {
		fault("the database has migration %d, newer than the %03d that sessctl knows: it is read as far as it is known and never written",
			s.generation, newest)
	}
	if missing := s.missing(); len(missing) > 0 {
		fault("migrations up to %s are recorded, but %s missing: the runtime fails on the first query that needs it",
			s.name(), strings.Join(missing, ", "))
	}
	return s, faults, nil
}

// marks are columns that a generation must have (from, until exclusive; 0 is
// open), enough to tell a half-migrated file.
var marks = []struct {
	table, column string
	from, until   int
}{
	{"sessions", "tools_approved", 1, 0},
	{"sessions", "title", 4, 0},
	{"sessions", "starred", 9, 0},
	{"sessions", "permissions", 10, 0},
	{"sessions", "custom_models_used", 12, 0},
	{"sessions", "thinking", 13, 0},
	{"sessions", "parent_id", 14, 0},
	{"session_items", "message_json", 14, 0},
	{"session_items", "subsession_id", 14, 0},
	{"sessions", "messages", 0, 20},
	{"session_items", "first_kept_entry", 21, 0},
	{"sessions", "instruction_context", 22, 0},
	{"session_items", "cost", 23, 0},
	{"session_items", "usage_json", 25, 0},
	{"sessions", "attributes", 26, 0},
	{"sessions", "origin", 27, 0},
}

func (s *schema) missing() []string {
	var list []string
	for _, m := range marks {
		if s.generation >= m.from && (m.until == 0 || s.generation < m.until) && !s.has(m.table, m.column) {
			list = append(list, m.table+"."+m.column+" is")
		}
	}
	return list
}

// releases names the first release of each schema generation (2.1).
var releases = []struct {
	generation int
	release    string
}{
	{0, "v0.5.0"}, {6, "v1.3.0"}, {7, "v1.3.5"}, {8, "v1.5.13"}, {9, "v1.18.2"}, {10, "v1.18.8"}, {11, "v1.19.0"},
	{13, "v1.19.3"}, {14, "v1.20.0"}, {16, "v1.20.6"}, {17, "v1.23.4"}, {18, "v1.27.1"}, {19, "v1.32.4"},
	{20, "v1.36.0"}, {21, "v1.41.0"}, {22, "a release after v1.59.0"},
}

// runtime says which versions leave this schema behind.
func (s *schema) runtime() string {
	from, until := "", ""
	for _, r := range releases {
		if r.generation <= s.generation {
			from = r.release
		} else if until == "" {
			until = r.release
		}
	}
	if until == "" {
		return "written by docker agent " + strings.TrimPrefix(from, "a release ") + " or later"
	}
	return "written by docker agent " + from + " or later, before " + strings.TrimPrefix(until, "a release ")
}

// advice says whether the runtime that wrote the file still leaks (0, 4.1).
func (s *schema) advice() []string {
	switch {
	case s.generation >= 14 && s.generation <= 17:
		return []string{"The docker agent that wrote this file leaks sub-agent messages into the parent session (v1.20.0 to v1.32.0): " +
			"upgrade it, or new sessions will be damaged again."}
	case s.generation == 18:
		return []string{"This file was last written by a docker agent of v1.27.1 to v1.32.3. Those up to v1.32.0 leak sub-agent messages " +
			"into the parent session: upgrade, or new sessions will be damaged again."}
	case s.generation > 18:
		return []string{"The docker agent that last wrote this file no longer leaks: what is damaged here was written before v1.32.1."}
	}
	return nil
}
