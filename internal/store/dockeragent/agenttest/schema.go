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

	_ "modernc.org/sqlite"
)

// bootstrap is the table that the runtime creates before any migration runs.
// SQLite keeps the text of a table as it was written, white space included, so
// the layout is upstream's.
const bootstrap = `CREATE TABLE sessions (
			id TEXT PRIMARY KEY,
			messages TEXT,
			created_at TEXT
		)`

const migrationsTable = `CREATE TABLE migrations (
			id INTEGER PRIMARY KEY,
			name TEXT UNIQUE NOT NULL,
			description TEXT,
			applied_at TEXT NOT NULL
		)`

const sessionItemsTable = `CREATE TABLE session_items (
					id INTEGER PRIMARY KEY AUTOINCREMENT,
					session_id TEXT NOT NULL,
					position INTEGER NOT NULL,
					item_type TEXT NOT NULL,
					agent_name TEXT,
					message_json TEXT,
					implicit BOOLEAN DEFAULT 0,
					subsession_id TEXT,
					summary_text TEXT,
					FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
					FOREIGN KEY (subsession_id) REFERENCES sessions(id) ON DELETE SET NULL
				)`

const mediaManifestTable = `CREATE TABLE generated_media_manifest (
					session_id TEXT NOT NULL,
					rel_path TEXT NOT NULL,
					mime_type TEXT NOT NULL,
					created_at TEXT NOT NULL,
					PRIMARY KEY (session_id, rel_path)
				)`

const mediaBlobTable = `CREATE TABLE generated_media_blobs (
					session_id TEXT NOT NULL,
					rel_path TEXT NOT NULL,
					data BLOB NOT NULL,
					PRIMARY KEY (session_id, rel_path)
				)`

// migration is one step of the schema; its number is its place in migrations,
// counted from 1.
type migration struct {
	name        string
	description string
	statements  []string
}

// The generations at which the shape of the data changes.
const (
	withItems     = 14 // session_items exists; before it the messages column is the only copy
	withoutLegacy = 20 // the messages column is gone
	withKept      = 21 // a summary says which items it keeps

	// Latest is the last generation that this package knows.
	Latest = 30
)

// migrations are the steps of docker agent's schema. Names and descriptions
// are what the migrations table holds.
var migrations = [Latest]migration{
	{"001_add_tools_approved_column", "Add tools_approved column to sessions table", addToSessions("tools_approved BOOLEAN DEFAULT 0")},
	{"002_add_usage_column", "Add usage column to sessions table", addToSessions("input_tokens INTEGER DEFAULT 0")},
	{"003_add_output_tokens_column", "Add output_tokens column to sessions table", addToSessions("output_tokens INTEGER DEFAULT 0")},
	{"004_add_title_column", "Add title column to sessions table", addToSessions("title TEXT DEFAULT ''")},
	{"005_add_cost_column", "Add cost column to sessions table", addToSessions("cost REAL DEFAULT 0")},
	{"006_add_send_user_message_column", "Add send_user_message column to sessions table", addToSessions("send_user_message BOOLEAN DEFAULT 1")},
	{"007_add_max_iterations_column", "Add max_iterations column to sessions table", addToSessions("max_iterations INTEGER DEFAULT 0")},
	{"008_add_working_dir_column", "Add working_dir column to sessions table", addToSessions("working_dir TEXT DEFAULT ''")},
	{"009_add_starred_column", "Add starred column to sessions table", addToSessions("starred BOOLEAN DEFAULT 0")},
	{"010_add_permissions_column", "Add permissions column to sessions table for session-level permission overrides", addToSessions("permissions TEXT DEFAULT ''")},
	{"011_add_agent_model_overrides_column", "Add agent_model_overrides column to sessions table for per-session model switching", addToSessions("agent_model_overrides TEXT DEFAULT '{}'")},
	{"012_add_custom_models_used_column", "Add custom_models_used column to sessions table for tracking custom models used in session", addToSessions("custom_models_used TEXT DEFAULT '[]'")},
	{"013_add_thinking_column", "Add thinking column to sessions table for session-level thinking toggle (default enabled)", addToSessions("thinking BOOLEAN DEFAULT 1")},
	{"014_normalize_session_items", "Add session_items table and parent_id column for normalized session storage", []string{
		"ALTER TABLE sessions ADD COLUMN parent_id TEXT REFERENCES sessions(id) ON DELETE CASCADE",
		"CREATE INDEX idx_sessions_parent_id ON sessions(parent_id)",
		sessionItemsTable,
		"CREATE INDEX idx_session_items_session ON session_items(session_id, position)",
	}},
	// 015 moves data only, and a new database has none to move.
	{"015_migrate_messages_to_session_items", "Migrate existing messages JSON data to session_items table", nil},
	{"016_add_branching_columns", "Add branch metadata columns for session branching", append(addToSessions(
		"branch_parent_session_id TEXT REFERENCES sessions(id) ON DELETE SET NULL",
		"branch_parent_position INTEGER",
		"branch_created_at TEXT"),
		"CREATE INDEX idx_sessions_branch_parent ON sessions(branch_parent_session_id)",
	)},
	{"017_add_split_diff_view_column", "Add split_diff_view column to sessions table for persisting split diff toggle", addToSessions("split_diff_view BOOLEAN")},
	{"018_add_session_items_type_index", "Add index on session_items(session_id, item_type) to speed up session summary message counts", []string{
		"CREATE INDEX idx_session_items_session_type ON session_items(session_id, item_type)",
	}},
	{"019_drop_branch_and_split_diff_columns", "Drop unused branch metadata columns and split_diff_view column", append(
		[]string{"DROP INDEX idx_sessions_branch_parent"},
		dropFromSessions("branch_parent_session_id", "branch_parent_position", "branch_created_at", "split_diff_view")...,
	)},
	{"020_drop_messages_column", "Drop the legacy messages JSON column now that all data lives in session_items", dropFromSessions("messages")},
	{"021_add_first_kept_entry_column", "Add first_kept_entry column to session_items for compaction-preserved messages", addToItems("first_kept_entry INTEGER DEFAULT 0")},
	{"022_add_instruction_context_column", "Persist cache-stable instruction snapshots and chronological updates", addToSessions("instruction_context TEXT DEFAULT ''")},
	{"023_add_cost_to_session_items", "Add cost column to session_items so compaction summary costs survive reload", addToItems("cost REAL NOT NULL DEFAULT 0")},
	{"024_add_safety_policy_column", "Add safety_policy column to sessions table", addToSessions("safety_policy TEXT DEFAULT ''")},
	{"025_add_model_usage_to_session_items", "Add model and usage_json columns to session_items so compaction summary costs can be attributed per model", addToItems("model TEXT NOT NULL DEFAULT ''", "usage_json TEXT NOT NULL DEFAULT ''")},
	{"026_add_session_attributes_column", "Add generic attributes to sessions", addToSessions("attributes TEXT DEFAULT '{}'")},
	{"027_add_session_origin_column", "Record the protocol surface that created each session", addToSessions("origin TEXT NOT NULL DEFAULT 'run'")},
	{"028_add_generated_media_manifest_table", "Record which workspace files generated-media materialization wrote, keyed by owning session and workspace-relative path", []string{mediaManifestTable}},
	{"029_add_generated_media_blob_table", "Store generated-media payloads beside the manifest", []string{mediaBlobTable}},
	{"030_add_root_kind_to_generated_media_manifest", "Add root_kind to generated_media_manifest so user-confirmed out-of-workspace generated files stay manifest-gated alongside workspace-relative ones", []string{
		"ALTER TABLE generated_media_manifest ADD COLUMN root_kind TEXT NOT NULL DEFAULT 'workspace'",
	}},
}

func addToSessions(columns ...string) []string {
	return alter("ALTER TABLE sessions ADD COLUMN ", columns)
}
func dropFromSessions(columns ...string) []string {
	return alter("ALTER TABLE sessions DROP COLUMN ", columns)
}
func addToItems(columns ...string) []string {
	return alter("ALTER TABLE session_items ADD COLUMN ", columns)
}

func alter(verb string, columns []string) []string {
	statements := make([]string, len(columns))
	for i, column := range columns {
		statements[i] = verb + column
	}
	return statements
}

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

// Migrate records one more migration behind the last, as a newer docker agent would: its
// statements in order, then its record under the next number.
func (db *DB) Migrate(name string, statements ...string) {
	var last int
	db.scan([]any{&last}, "SELECT COALESCE(MAX(id), 0) FROM migrations")
	db.forget() // the schema changes under the prepared statements
	db.Batch(func() {
		for _, statement := range statements {
			db.exec(statement)
		}
		db.exec("INSERT INTO migrations (id, name, description, applied_at) VALUES (?, ?, ?, ?)",
			last+1, fmt.Sprintf("%03d_%s", last+1, name), "", stamp(db.now))
	})
	db.forget()
}

// Rebuild are the statements that give a table another definition and keep its rows, as
// SQLite has to do it for what no ALTER TABLE can change. The columns are those that the
// rows are copied from.
func Rebuild(table, columns, definition string) []string {
	return []string{
		"CREATE TABLE rebuilt " + definition,
		"INSERT INTO rebuilt (" + columns + ") SELECT " + columns + " FROM " + table,
		"DROP TABLE " + table,
		"ALTER TABLE rebuilt RENAME TO " + table,
	}
}

// source is a long text that looks like Go source code. Messages are cut out of
// it, which costs nothing; its quotes, tabs and line ends make the JSON as hard
// to read as real ones (about 60 backslashes in a kilobyte).
type source struct {
	text string
	at   int
}

// sourceDensity is the size of a piece of the source in memory for each byte
// that it takes in JSON.
const sourceDensity = 0.9

const sourceSize = 1 << 21

// lines are the shapes of the source's lines; %s is a name.
var lines = []string{
	"func (%s *%s) %s() error {\n",
	"\tif err := %s.%s(ctx, \"%s\"); err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n",
	"\tfor i, %s := range %s.%s {\n",
	"\t\t%s[\"%s\"] = append(%s, \"%s\")\n",
	"\t\tcase %s < %s && %s > 0:\n",
	"// %s returns the %s of the %s that the caller asked for, or nil.\n",
	"// A %s without a %s is not an error: the %s may come later, see %s and %s.\n",
	"\tlog.Printf(\"%s: read %%d bytes of %s\\n\", n)\n",
	"\treturn %s.%s, nil\n}\n\n",
	"\t{name: \"%s\", want: \"%s\"},\n",
	"ok  \tgithub.com/example/project/internal/%s\t0.%s12s\n",
	"internal/%s/%s.go:41: %s is not used in this package\n",
}

var names = []string{
	"reader", "writer", "session", "item", "cursor", "index", "table", "row", "key", "value", "state", "config",
	"request", "answer", "stream", "buffer", "window", "frame", "branch", "viewer", "digest", "ledger", "plan", "edit",
}

// newSource draws the text.
func newSource(seed uint64) *source {
	rng := rand.New(rand.NewPCG(seed, 0x50c))
	var b strings.Builder
	for b.Len() < sourceSize {
		line := lines[rng.IntN(len(lines))]
		values := make([]any, strings.Count(line, "%s"))
		for i := range values {
			values[i] = names[rng.IntN(len(names))]
		}
		fmt.Fprintf(&b, line, values...)
	}
	return &source{text: b.String()}
}

// cut returns the next n bytes of the text, which starts again at its end.
func (s *source) cut(n int) string {
	if s.at+n > len(s.text) {
		s.at = s.at + n - len(s.text) // not 0: the second round must differ from the first
		s.at %= 997
	}
	piece := s.text[s.at : s.at+n]
	s.at += n
	if strings.TrimSpace(piece) == "" { // a blank text would be a defect
		return strings.Repeat("-", n)
	}
	return piece
}

// title draws a few names.
func (s *source) title(rng *rand.Rand) string {
	return fmt.Sprintf("%s_%s_%d", names[rng.IntN(len(names))], names[rng.IntN(len(names))], rng.IntN(1000))
}
