package agenttest

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver that docker agent uses
)

// DB is a docker agent database under construction.
//
// Its methods keep the first error and do nothing after it; Close returns it.
// A DB is for one goroutine.
type DB struct {
	Path       string
	Generation int

	// SQL is for what the methods have no words for. It has one connection, so
	// rows must be closed before the next statement.
	SQL *sql.DB

	journal    string
	rng        *rand.Rand
	now        time.Time
	step       time.Duration
	statements map[string]*sql.Stmt
	behind     []*Session // that lag
	batching   bool
	err        error
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
		statements: map[string]*sql.Stmt{},
	}
	Seed(1)(db)
	for _, option := range options {
		option(db)
	}
	if err := db.open(); err != nil {
		return nil, err
	}
	db.Batch(db.migrate)
	if db.err != nil {
		return nil, errors.Join(db.err, db.SQL.Close())
	}
	return db, nil
}

// open connects as the runtime does, except that nothing is synced to disk:
// these databases need not survive a power failure.
func (db *DB) open() error {
	abs, err := filepath.Abs(db.Path)
	if err != nil {
		return err
	}
	slash := filepath.ToSlash(abs)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash
	}
	dsn := url.URL{Scheme: "file", Path: slash, RawQuery: url.Values{"_pragma": {
		"synchronous(OFF)", "busy_timeout(5000)", "journal_mode(" + db.journal + ")", "foreign_keys(1)",
	}}.Encode()}
	db.SQL, err = sql.Open("sqlite", dsn.String())
	if err != nil {
		return err
	}
	db.SQL.SetMaxOpenConns(1)
	return nil
}

// migrate creates the tables in the order in which the runtime does.
func (db *DB) migrate() {
	db.exec(bootstrap)
	db.exec(migrationsTable)
	for i, m := range migrations[:db.Generation] {
		for _, statement := range m.statements {
			db.exec(statement)
		}
		db.exec("INSERT INTO migrations (id, name, description, applied_at) VALUES (?, ?, ?, ?)",
			i+1, m.name, m.description, stamp(db.now))
	}
	db.forget() // the schema changed under the prepared statements
}

// Err returns the first error.
func (db *DB) Err() error { return db.err }

// Close brings the messages column up to date, closes the database, which
// checkpoints its write-ahead log, and returns the first error.
func (db *DB) Close() error {
	db.Sync()
	db.forget()
	return errors.Join(db.err, db.SQL.Close())
}

// CloseKilled closes the database and leaves the files as a killed process
// does: the latest content in the -wal file, and a -shm file that nobody holds.
func (db *DB) CloseKilled() error {
	db.Sync()
	left := map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(db.Path + suffix)
		if err != nil {
			return errors.Join(err, db.Close())
		}
		left[db.Path+suffix] = content
	}
	if err := db.Close(); err != nil {
		return err
	}
	for path, content := range left {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// stamp is the form of every time in the database.
func stamp(t time.Time) string { return t.Format(time.RFC3339) }
