package dockeragent

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// schema is what a database has, and the generation that it is of: that of its last known
// migration on record, or of its newest known column if that came later.
type schema struct {
	columns    map[string][]string
	rowid      map[string]string // what SQL calls the rowids of a table
	recorded   map[int64]string  // the migrations that the database has on record, with their names
	ran        map[int64]bool    // the known ones of them, by number
	later      []string          // the others
	generation int64             // 0 for the bootstrap schema
	triggers   []session.Trigger
	doubts     []string // what a repair would have to understand of the tables that it writes, and does not
	ties       []tie    // what a repair of single rows has to leave alone
}

func newSchema(columns map[string][]string) schema { return schema{columns: columns} }

func (s *schema) has(table, column string) bool { return slices.Contains(s.columns[table], column) }

// pick keeps the columns that the table has, in the order asked for.
func (s *schema) pick(table string, wanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(c string) bool { return !s.has(table, c) })
}

func (s *schema) hasItems() bool  { return s.has("session_items", "message_json") }
func (s *schema) hasColumn() bool { return s.has("sessions", "messages") }

// name is that of the schema generation: "018", or the number of a later migration.
func (s *schema) name() string {
	return generationName(slices.Max(append(slices.Collect(maps.Keys(s.recorded)), s.generation)))
}

func generationName(g int64) string { return fmt.Sprintf("%03d", g) }

// oldest is the first generation that a repair can write: the one that brought
// the item table.
const oldest = 14

// readOnly says why a database of this schema is never written, "" if it is.
func (s *schema) readOnly() string {
	switch missing := s.missing(); {
	case s.generation < oldest:
		return "its schema is older than docker agent v1.20.0 and keeps each session in one column: start a newer docker agent with it once, " +
			"which upgrades it, and repair it then"
	case len(missing) > 0:
		return "its schema is not whole: " + sentenceList(missing) + " missing"
	case len(s.doubts) > 0:
		return "its tables have something that sessctl does not know, and a repair could do harm: " + strings.Join(s.doubts, "; ")
	}
	return ""
}

// readSchema reads columns and migrations, and reports where they disagree.
func readSchema(ctx context.Context, db *sqlite.DB) (schema, []session.Fault, error) {
	columns, err := db.Columns(ctx)
	if err != nil {
		return schema{}, nil, err
	}
	s := newSchema(columns)
	s.rowid = map[string]string{}
	for _, table := range []string{tableSessions, tableItems} {
		if len(columns[table]) == 0 {
			continue
		}
		if s.rowid[table], err = db.RowID(ctx, table); err != nil {
			return schema{}, nil, err
		}
	}
	faults, err := s.readMigrations(ctx, db)
	if err == nil {
		s.triggers, err = db.Triggers(ctx)
	}
	if err == nil {
		err = s.examine(ctx, db)
	}
	if err != nil {
		return schema{}, nil, err
	}
	return s, append(faults, s.disagreements(len(faults) == 0)...), nil
}

// readMigrations reads what is on record. It returns a fault for each part of
// the table that cannot be read.
func (s *schema) readMigrations(ctx context.Context, db *sqlite.DB) ([]session.Fault, error) {
	var faults []session.Fault
	s.recorded, s.ran = map[int64]string{}, map[int64]bool{}
	for _, m := range migrations {
		if s.brought(m) {
			s.generation = max(s.generation, from(m.number))
		}
	}
	if s.has("migrations", "id") {
		lost, err := db.ScanTable(ctx, "migrations", s.pick("migrations", "id", "name"), func(_ int64, values []driver.Value) error {
			if id, ok := values[0].(int64); ok && id > 0 {
				s.learn(id, strings.Clone(textOf(append(values, nil)[1])))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, l := range lost {
			faults = append(faults, l.Fault("migrations"))
		}
	}
	return faults, nil
}

// disagreements are the faults of the schema; whole says that every record of
// a migration could be read.
func (s *schema) disagreements(whole bool) []session.Fault {
	var faults []session.Fault
	fault := func(format string, args ...any) {
		faults = append(faults, session.Fault{
			Kind: session.SchemaUnknown, Item: -1, Ref: session.Ref{Table: "migrations", Key: s.name()},
			Detail: fmt.Sprintf(format, args...),
		})
	}
	if why := s.readOnly(); len(s.later) > 0 && why == "" {
		fault("%s. %s What a repair writes is as sessctl knows it, so the store can be repaired", s.differs(), s.unread())
		faults[0].Harmless = true
	} else if len(s.later)+len(s.doubts) > 0 {
		fault("%s. %s It can be checked, viewed and exported, and is not repaired: %s", s.differs(), s.unread(), why)
	}
	if missing := s.missing(); len(missing) > 0 {
		fault("the schema is that of migration %s, but %s missing: the runtime fails on the first query that needs what is not there",
			generationName(s.generation), sentenceList(missing))
	}
	if gaps := s.unrecorded(); whole && len(gaps) > 0 {
		fault("%s not recorded, although later changes of the schema are there: the runtime runs what is not recorded when it "+
			"starts, and sets the whole file aside as .bak when that fails", migrationList(gaps))
	}
	return faults
}
