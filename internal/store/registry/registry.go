// Package registry is the table of adapters, and finds out which of them a path
// is for. It is a package of its own because the adapters import the contract.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/claudecode"
	"github.com/sessctl/sessctl/internal/store/codex"
	"github.com/sessctl/sessctl/internal/store/copilot"
	"github.com/sessctl/sessctl/internal/store/crush"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/goose"
	"github.com/sessctl/sessctl/internal/store/kagent"
	"github.com/sessctl/sessctl/internal/store/loom"
	"github.com/sessctl/sessctl/internal/store/mastra"
	"github.com/sessctl/sessctl/internal/store/openaiagents"
	"github.com/sessctl/sessctl/internal/store/opencode"
	"github.com/sessctl/sessctl/internal/store/springai"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// Kinds are all adapters, in the order in which they are asked.
var Kinds = []store.Kind{
	dockeragent.Kind,
	adk.Kind,
	springai.Kind,
	kagent.Kind,
	crush.Kind,
	goose.Kind,
	mastra.Kind,
	opencode.Kind,
	openaiagents.Kind,
	claudecode.Kind,
	copilot.Kind,
	codex.Kind,
	loom.Kind,
	canonical.Kind,
}

// KindNames are the names of all kinds.
func KindNames() []string {
	return lists.MapEach(Kinds, func(k store.Kind) string { return k.Name })
}

// Opened is an opened store with what it was opened from.
type Opened struct {
	store.Store
	Kind   store.Kind
	source *source
}

// Changed says what changed in the files while they were read without a lock, or
// that the path leads to another store now, "" when nothing did.
func (o *Opened) Changed() string { return o.source.describeChange() }

// Close ends the read and removes what it left in temporary folders.
func (o *Opened) Close() error { return errors.Join(o.Store.Close(), o.source.closeFiles()) }

// Open opens the store at path for reading; "-" is standard input. kind names
// the adapter to use, "" lets the content decide.
func Open(ctx context.Context, path, kind string, stdin io.Reader, opts store.Options) (*Opened, error) {
	src, err := openSource(ctx, path, stdin)
	if err != nil {
		return nil, err
	}
	// The adapter of a folder measures it.
	if db := sqlite.FromReader(src.DB); src.Folder == nil && src.Bytes < opts.Brief && (db == nil || src.Bytes+db.File.WAL < opts.Brief) {
		opts.Brief = 0
	}
	if db := sqlite.FromReader(src.DB); db != nil {
		db.CompareIndexes = opts.Brief == 0 && !opts.Deep // which tests more of them
	}
	o := &Opened{source: src}
	if o.Kind, err = detectKind(ctx, &src.Source, kind); err != nil {
		return nil, errors.Join(err, src.closeFiles())
	}
	if o.Store, err = o.Kind.Open(ctx, &src.Source, opts); err != nil {
		return nil, errors.Join(unreadableError(path, err), src.closeFiles())
	}
	return o, nil
}

// unreadableError makes sure that an adapter's error names the path.
func unreadableError(path string, err error) error {
	if problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s could not be read: %v", path, err),
		Next: "Nothing was changed. Before you open it with another program, copy the file, and its -wal file if there is one.",
	}
}

// surestKind is the adapter that is surest about a source; name leaves only one to ask,
// "" all.
func surestKind(ctx context.Context, src *store.Source, name string) (kind store.Kind, best store.Confidence) {
	for _, k := range Kinds {
		if name != "" && k.Name != name {
			continue
		}
		if d := k.Detect(ctx, src); d.Sure > best {
			kind, best = k, d.Sure
		}
	}
	return kind, best
}

// detectKind detects the adapter to use; name leaves only one to ask, "" all. The error says
// what the source is instead.
func detectKind(ctx context.Context, src *store.Source, name string) (store.Kind, error) {
	kind, best := surestKind(ctx, src, name)
	switch {
	case best != store.No:
		return kind, nil
	case name != "":
		return kind, problem.New(problem.Unreadable, "Without --store, sessctl detects the kind.",
			"%s is not a store of kind %s", src.Path, name)
	}
	return kind, unknownError(ctx, src)
}

// sureOf is how sure the adapter of a kind, "" for any, is about a path.
func sureOf(ctx context.Context, path, kind string) store.Confidence {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return store.No
	}
	_, sure := surestKind(ctx, &src.Source, kind)
	_ = src.closeFiles()
	return sure
}

// WholeStore is the store that a path is a part of: a log beside a database, or what a kind of store
// has of its own. "" for a store, and for what belongs to none.
func WholeStore(ctx context.Context, path string) string {
	path = filepath.Clean(path)
	for _, ending := range []string{"-wal", "-shm", "-journal"} {
		if base, is := strings.CutSuffix(path, ending); is && sureOf(ctx, base, "") != store.No && sureOf(ctx, path, "") == store.No {
			return base
		}
	}
	for _, kind := range Kinds {
		if kind.Whole == nil || OnServer(path) {
			continue
		}
		if base := kind.Whole(path); base != "" && sureOf(ctx, base, kind.Name) != store.No {
			return base
		}
	}
	return ""
}

// isStore reports whether some adapter knows the file. One that is locked or damaged
// counts: leaving it out would pass it over in silence.
func isStore(ctx context.Context, path string) bool {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return problem.ClassOf(err) == problem.Busy || IsDatabase(path)
	}
	_, sure := surestKind(ctx, &src.Source, "")
	_ = src.closeFiles()
	return sure != store.No
}

// isOther reports whether a file is sound and another program's: a database with tables
// that no adapter knows, or lines of JSON that were never meant for a stream.
func isOther(ctx context.Context, path string) bool {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return false
	}
	defer func() { _ = src.closeFiles() }()
	if _, sure := surestKind(ctx, &src.Source, ""); sure != store.No {
		return false
	}
	if src.DB == nil {
		return canonical.IsForeign(&src.Source)
	}
	db := sqlite.FromReader(src.DB)
	columns, err := db.Columns(ctx)
	return err == nil && len(columns) > 0 && db.Damaged() == nil
}

// unknownError says what a source is that no adapter knows.
func unknownError(ctx context.Context, src *store.Source) error {
	titles := lists.MapEach(Kinds, func(k store.Kind) string { return k.Title })
	next := "sessctl reads these kinds of stores: " + strings.Join(titles, ", ") + ". See `sessctl stores`."
	if src.Folder != nil {
		if err := unreadError(src.Path); err != nil {
			return err
		}
		return problem.New(problem.Unreadable, next, "%s is a folder, but not one in which a runtime keeps its sessions", src.Path)
	}
	if src.DB == nil {
		return problem.New(problem.Unreadable, next, "%s is not a session store: no kind of store begins with such a line (a canonical stream begins with {\"type\":\"header\",\"format\":\"sessctl.canonical/1\"})", src.Path)
	}
	db := sqlite.FromReader(src.DB)
	if db == nil {
		return problem.New(problem.Unreadable, serverOf(src.Path).elsewhere, "%s has no tables in which a runtime keeps its sessions", src.Path)
	}
	if err := db.Damaged(); err != nil {
		return err
	}
	columns, err := db.Columns(ctx)
	if err != nil {
		return err
	}
	tables := slices.Sorted(maps.Keys(columns))
	file := db.File
	withoutLog := file.Header.WAL && file.WAL <= 0
	if len(tables) == 0 && withoutLog {
		return problem.New(problem.Unreadable, copyBoth,
			"%s has no tables: its contents may be in a -wal file that was not copied with it (%s-wal), or nothing was ever written to it", src.Path, filepath.Base(src.Path))
	}
	if len(tables) == 0 {
		return problem.New(problem.Unreadable, next, "%s is a SQLite database without tables", src.Path)
	}
	if at := slices.IndexFunc(Kinds, func(k store.Kind) bool { return isIndexOf(k, columns) }); at >= 0 {
		return problem.New(problem.Unreadable, whereSessions(ctx, src.Path, Kinds[at]), "%s is an index that %s makes of its sessions, and holds none of them", src.Path, Kinds[at].Title)
	}
	const most = 6
	what := strings.Join(tables[:min(len(tables), most)], ", ")
	if more := len(tables) - most; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	if withoutLog {
		next += " If it was copied without its -wal file, tables may be missing. " + copyBoth
	}
	return problem.New(problem.Unreadable, next, "%s is a SQLite database of another program (tables %s)", src.Path, what)
}

// isIndexOf reports whether a database has the columns of the index of a kind.
func isIndexOf(k store.Kind, columns map[string][]string) bool {
	return len(k.Index) > 0 && !slices.ContainsFunc(k.Index[1:], func(c string) bool { return !slices.Contains(columns[k.Index[0]], c) })
}

// whereSessions says where the sessions are of which a file is the index.
func whereSessions(ctx context.Context, path string, kind store.Kind) string {
	folder := filepath.Dir(path)
	if sureOf(ctx, folder, kind.Name) == store.No {
		return "`sessctl stores` lists the folders in which " + kind.Title + " keeps them."
	}
	return "Name the folder " + folder + ", which has the files of the sessions."
}

// copyBoth is what to do about a copy without its log. That it is one shows only where
// nothing was folded into the database yet; a sound database without a log looks the same.
const copyBoth = "Copy the database again, together with its -wal file, or make the copy with `sqlite3 ORIGINAL \".backup COPY\"`."

// source is what a path names, opened as far as every adapter needs it.
type source struct {
	store.Source
	spool string      // the folder of a private copy of standard input, "" without
	seen  fs.FileInfo // the stream or the folder when it was opened; nil for a database, which looks itself, and for standard input
}

// describeChange says what became of the source since it was opened, "" when nothing did.
func (s *source) describeChange() string {
	if db := sqlite.FromReader(s.DB); db != nil {
		return db.Changed()
	}
	if s.seen == nil {
		return ""
	}
	now, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.Path + " was moved or deleted while sessctl read it"
	case err != nil:
		return s.Path + " could not be read again at the end: " + problem.Reason(err)
	case !os.SameFile(s.seen, now):
		return s.Path + " was replaced while sessctl read it"
	case s.Stream != nil && (now.Size() != s.seen.Size() || !now.ModTime().Equal(s.seen.ModTime())):
		return s.Path + " was written to while sessctl read it"
	}
	return ""
}

func (s *source) closeFiles() error {
	var err error
	if db, ok := s.DB.(io.Closer); ok {
		err = db.Close()
	}
	if s.Folder != nil {
		err = errors.Join(err, s.Folder.Close())
	}
	if c, ok := s.Stream.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if s.spool != "" {
		err = errors.Join(err, os.RemoveAll(s.spool))
	}
	return err
}

// InOneRun is a context in which the stores that are opened share one look at what other
// processes have open. A store that is opened for writing looks anew.
func InOneRun(ctx context.Context) context.Context { return sqlite.InOneRun(ctx) }

func openSource(ctx context.Context, path string, stdin io.Reader) (*source, error) {
	if path == "-" {
		return spoolInput(stdin)
	}
	if d := serverOf(path); d != nil {
		return d.openDatabase(ctx, path)
	}
	if isFolder(path) {
		folder, err := os.OpenRoot(path)
		if err != nil {
			return nil, unlistedError(path, err)
		}
		seen, err := folder.Stat(".")
		if err != nil {
			return nil, errors.Join(unlistedError(path, err), folder.Close())
		}
		return &source{Source: store.Source{Path: path, Folder: folder}, seen: seen}, nil
	}
	if f := openStream(path); f != nil {
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &source{Source: store.Source{Path: path, Stream: f, Bytes: info.Size()}, seen: info}, nil
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	return &source{Source: store.Source{Path: path, DB: db.Reader(), Edit: sqlite.Opener(path), Bytes: db.File.Size}}, nil
}

// ToEdit is the store at a path, not opened for reading.
func ToEdit(path string) *store.Source {
	if d := serverOf(path); d != nil {
		return &store.Source{Path: path, Edit: d.edit(path)}
	}
	return &store.Source{Path: path, Edit: sqlite.Opener(path)}
}

// openStream opens a regular file that begins like a stream; nil for all others, which package
// sqlite opens or explains.
func openStream(path string) *os.File {
	if !isStream(readHead(path)) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	return f
}

// isStream reports whether a file that begins with head begins like a JSON object, or like what zstd
// compresses.
func isStream(head []byte) bool {
	text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "\x28\xb5\x2f\xfd")
}

// IsDatabase reports whether the file at path begins as a SQLite database does.
func IsDatabase(path string) bool { return sqlite.IsSQLite(readHead(path)) }

// OfAStore reports whether the file at path is a stream of sessions, a database, or
// the log of one: what must not be replaced by something else.
func OfAStore(ctx context.Context, path string) bool {
	begins := readHead(path)
	return sqlite.IsSQLite(begins) || sqlite.IsLog(begins) || isStream(begins) && isStore(ctx, path)
}

// WithLogs are a store file and the files that SQLite keeps beside it.
func WithLogs(path string) []string {
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}

// readHead reads the beginning of a regular file; shorter or empty when it cannot be
// read. Others, such as a named pipe, may block.
func readHead(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, 100)
	n, _ := io.ReadFull(f, data)
	return data[:n]
}

// spoolInput copies standard input into a private file, because adapters read a
// stream more than once.
func spoolInput(stdin io.Reader) (*source, error) {
	folder, err := os.MkdirTemp("", "sessctl-")
	if err != nil {
		return nil, err
	}
	s := &source{Source: store.Source{Path: "-"}, spool: folder}
	f, err := os.OpenFile(filepath.Join(folder, "stdin.ndjson"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	s.Stream = f
	// Where open files can be deleted, nothing is left even if the process is
	// killed. Elsewhere close does it.
	_ = os.RemoveAll(folder)
	s.Bytes, err = io.Copy(f, stdin)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil && s.Bytes == 0 {
		err = problem.New(problem.Unreadable, "Pipe a canonical stream into it: `sessctl export` writes one.", "standard input is empty")
	}
	if err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	return s, nil
}
