package agenttest

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

//go:embed schema.sql
var schemaSQL string

// schema is what the runtime creates before any migration runs, and its migrations:
// each has its number as its place.
var schema = builder.Sections(schemaSQL)

// The generations at which the shape of the data changes.
const (
	withItems     = 14 // session_items exists; before it the messages column is the only copy
	withoutLegacy = 20 // the messages column is gone
	withKept      = 21 // a summary says which items it keeps

	// Latest is the last generation that this package knows.
	Latest = 30
)

// DB is a docker agent database under construction.
type DB struct {
	*builder.DB
	Path       string
	Generation int

	journal string
	rng     *rand.Rand
	now     time.Time
	step    time.Duration
	behind  []*Session // that lag
}

// Option changes how Create makes a database.
type Option func(*DB)

// StartAt sets the time of the migrations and of the first item; the offset of
// its zone is what the database shows. The default is 2026-02-14 09:00 +01:00,
// when the runtime still had the leak.
func StartAt(t time.Time) Option { return func(db *DB) { db.now = t } }

// StepBy sets the time between two items; the default is one second. Stored
// times have a resolution of one second.
func StepBy(d time.Duration) Option { return func(db *DB) { db.step = d } }

// Seed changes the ids that are drawn.
func Seed(seed uint64) Option {
	return func(db *DB) { db.rng = rand.New(rand.NewPCG(seed, seed)) }
}

// RollbackJournal leaves the database without a write-ahead log, as versions
// before v1.18.0 did.
func RollbackJournal() Option { return func(db *DB) { db.journal = "DELETE" } }

// Create makes a database file with the schema that the bootstrap and the
// migrations up to generation (0 to Latest) leave behind. The file must not
// exist yet.
func Create(path string, generation int, options ...Option) (*DB, error) {
	if generation < 0 || generation > Latest {
		return nil, fmt.Errorf("generation %d of the docker agent schema is not known: it must be between 0 and %d", generation, Latest)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s exists already: choose another path", path)
	}
	db := &DB{
		Path:       path,
		Generation: generation,
		journal:    "WAL",
		now:        time.Date(2026, 2, 14, 9, 0, 0, 0, time.FixedZone("", 3600)),
		step:       time.Second,
	}
	Seed(1)(db)
	for _, option := range options {
		option(db)
	}
	var err error
	if db.DB, err = builder.Open(path, "journal_mode("+db.journal+")", "foreign_keys(1)"); err != nil {
		return nil, err
	}
	db.Batch(db.migrate)
	if db.Err() != nil {
		return nil, db.DB.Close()
	}
	return db, nil
}

// migrate creates the tables in the order in which the runtime does.
func (db *DB) migrate() {
	for i, m := range schema[:db.Generation+1] {
		for _, statement := range m.Statements {
			db.Exec(statement)
		}
		if i > 0 {
			db.record(i, m.Name, m.About)
		}
	}
	db.Forget() // the schema changed under the prepared statements
}

// record records a migration.
func (db *DB) record(id int, name, description string) {
	db.Exec("INSERT INTO migrations (id, name, description, applied_at) VALUES (?, ?, ?, ?)", id, name, description, stamp(db.now))
}

// Close brings the messages column up to date, closes the database, which
// checkpoints its write-ahead log, and returns the first error.
func (db *DB) Close() error {
	db.Sync()
	return db.DB.Close()
}

// stamp is the form of every time in the database.
func stamp(t time.Time) string { return t.Format(time.RFC3339) }

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
