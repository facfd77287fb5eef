package agenttest

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/builder"
)

//go:embed damages.sql
var damagesSQL string

var damages = builder.Sections(damagesSQL)

// Damage makes the damage of this name in a database of generation 14 or later;
// damages.sql has them all, with the arguments that each takes. The messages column
// follows the damaged items, as it does in the runtime when it next writes to the
// session. A damage that does not fit the database changes nothing, and is the error.
// It must not be part of a Batch.
func (db *DB) Damage(name string, args ...any) error {
	db.Sync()
	if db.Err() != nil {
		return db.Err()
	}
	at := slices.IndexFunc(damages, func(d builder.Section) bool { return d.Name == name })
	if at < 0 {
		return fmt.Errorf("no damage is called %s", name)
	}
	d := damages[at]
	if !strings.HasSuffix(d.About, " keys") {
		db.Exec("PRAGMA foreign_keys = OFF")
	}
	db.Batch(func() {
		for _, statement := range d.Statements {
			db.Change(statement, args...)
		}
		if strings.HasSuffix(d.About, " dense") {
			db.Exec(`UPDATE session_items AS i SET position = dense.position FROM (SELECT id, session_id,
				ROW_NUMBER() OVER (PARTITION BY session_id ORDER BY position, id) - 1 AS position FROM session_items) AS dense
				WHERE dense.id = i.id AND dense.position != i.position`)
		}
		if !strings.HasSuffix(d.About, " older") {
			db.reloadAllLegacy()
		}
	})
	err := db.Recover()
	db.Exec("PRAGMA foreign_keys = ON")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// reloadAllLegacy writes the messages column of all sessions that have one.
func (db *DB) reloadAllLegacy() {
	if db.Generation >= withoutLegacy {
		return
	}
	for _, id := range list[string](db, "SELECT id FROM sessions WHERE messages IS NOT NULL ORDER BY rowid") {
		db.reloadLegacy(id)
	}
}
