// Package registry is the table of adapters, and finds out which of them a path
// is for. It is a package of its own because the adapters import the contract.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// Kinds are all adapters, in the order in which they are asked.
var Kinds = []store.Kind{
	dockeragent.Kind,
	canonical.Kind,
}

// Names are the names of all kinds.
func Names() []string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = k.Name
	}
	return names
}

// Opened is an opened store with what it was opened from.
type Opened struct {
	store.Store
	Kind      store.Kind
	Detection store.Detection
	src       *store.Source
	spool     string // a private copy of standard input, removed by Close
}

// Changed says what changed in the files while they were read without a lock,
// "" when nothing did.
func (o *Opened) Changed() string {
	if o.src.DB == nil {
		return ""
	}
	return o.src.DB.Changed()
}

// Close ends the read and removes what it left in temporary folders.
func (o *Opened) Close() error { return errors.Join(o.Store.Close(), closeSource(o.src, o.spool)) }

func closeSource(src *store.Source, spool string) error {
	var err error
	if src.DB != nil {
		err = src.DB.Close()
	}
	if c, ok := src.Stream.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if spool != "" {
		err = errors.Join(err, os.RemoveAll(spool))
	}
	return err
}

// Open opens the store at path for reading; "-" is standard input. kind names
// the adapter to use, "" lets the content decide.
func Open(ctx context.Context, path, kind string, stdin io.Reader, opts store.Options) (*Opened, error) {
	src, spool, err := source(ctx, path, stdin)
	if err != nil {
		return nil, err
	}
	o := &Opened{src: src, spool: spool}
	if err := o.choose(ctx, kind); err != nil {
		return nil, errors.Join(err, closeSource(src, spool))
	}
	if o.Store, err = o.Kind.Open(ctx, src, opts); err != nil {
		return nil, errors.Join(unreadable(path, err), closeSource(src, spool))
	}
	return o, nil
}

// choose picks the adapter that is surest.
func (o *Opened) choose(ctx context.Context, kind string) error {
	for _, k := range Kinds {
		if kind != "" && k.Name != kind {
			continue
		}
		if d := k.Detect(ctx, o.src); d.Sure > o.Detection.Sure {
			o.Kind, o.Detection = k, d
		}
	}
	if o.Detection.Sure != store.No {
		return nil
	}
	if kind != "" {
		return problem.New(problem.Unreadable, "Leave --store out to let sessctl find out what it is.",
			"%s is not a %s store", o.src.Path, kind)
	}
	return o.unknown(ctx)
}

// unknown says what the source is instead of a session store.
func (o *Opened) unknown(ctx context.Context) error {
	const next = "sessctl reads " + known + "; see `sessctl stores`."
	if o.src.DB == nil {
		return problem.New(problem.Unreadable, next, "%s is not a session store: its first line is no canonical header", o.src.Path)
	}
	if err := o.src.DB.Damaged(); err != nil {
		return err
	}
	columns, err := o.src.DB.Columns(ctx)
	if err != nil {
		return err
	}
	tables := slices.Sorted(maps.Keys(columns))
	if len(tables) == 0 {
		return problem.New(problem.Unreadable, next, "%s is a SQLite database without any table", o.src.Path)
	}
	what := strings.Join(tables[:min(len(tables), 6)], ", ")
	if len(tables) > 6 {
		what += fmt.Sprintf(" and %d more", len(tables)-6)
	}
	return problem.New(problem.Unreadable, next, "%s is a SQLite database of another program (tables %s)", o.src.Path, what)
}

const known = "docker agent databases and canonical NDJSON streams"

// unreadable makes sure that an adapter's error names the path.
func unreadable(path string, err error) error {
	if problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s could not be read: %v", path, err),
		Next: "Nothing was changed. `sqlite3 FILE .recover` may save what is left into a new file.",
	}
}

// source opens what a path names, as far as every adapter needs it.
func source(ctx context.Context, path string, stdin io.Reader) (src *store.Source, spool string, err error) {
	if path == "-" {
		return spooled(stdin)
	}
	if f := stream(path); f != nil {
		info, err := f.Stat()
		if err != nil {
			return nil, "", err
		}
		return &store.Source{Path: path, Stream: f, Bytes: info.Size()}, "", nil
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, "", err
	}
	return &store.Source{Path: path, DB: db, Bytes: db.File.Size}, "", nil
}

// stream opens a regular file that begins like a JSON object; nil for all
// others, which package sqlite opens or explains.
func stream(path string) *os.File {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	if !strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(string(head[:n]), "\ufeff"), " \t\r\n"), "{") {
		_ = f.Close()
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// spooled copies standard input into a private file, because adapters read a
// stream more than once.
func spooled(stdin io.Reader) (*store.Source, string, error) {
	folder, err := os.MkdirTemp("", "sessctl-")
	if err != nil {
		return nil, "", err
	}
	f, err := os.OpenFile(filepath.Join(folder, "stdin.ndjson"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(folder))
	}
	n, err := io.Copy(f, stdin)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil && n == 0 {
		err = problem.New(problem.Unreadable, "Pipe a canonical stream into it, as `sessctl export` writes one.", "standard input is empty")
	}
	if err != nil {
		return nil, "", errors.Join(err, f.Close(), os.RemoveAll(folder))
	}
	return &store.Source{Path: "-", Stream: f, Bytes: n}, folder, nil
}
