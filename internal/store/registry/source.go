package registry

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// source is what a path names, opened as far as every adapter needs it.
type source struct {
	store.Source
	spool string      // the folder of a private copy of standard input, "" without
	seen  fs.FileInfo // the stream or the folder when it was opened; nil for a database, which looks itself, and for standard input
}

// changed says what became of the source since it was opened, "" when nothing did.
func (s *source) changed() string {
	if db := sqlite.Of(s.DB); db != nil {
		return db.Changed()
	}
	if s.seen == nil {
		return ""
	}
	now, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.Path + " was moved away or deleted while it was read"
	case err != nil:
		return s.Path + " could not be looked at again after the read: " + problem.Reason(err)
	case !os.SameFile(s.seen, now):
		return s.Path + " was replaced while it was read"
	case s.Stream != nil && (now.Size() != s.seen.Size() || !now.ModTime().Equal(s.seen.ModTime())):
		return s.Path + " was written to while it was read"
	}
	return ""
}

func (s *source) close() error {
	var err error
	if db := sqlite.Of(s.DB); db != nil {
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

func openSource(ctx context.Context, path string, stdin io.Reader) (*source, error) {
	if path == "-" {
		return spooled(stdin)
	}
	if isFolder(path) {
		folder, err := os.OpenRoot(path)
		if err != nil {
			return nil, unlisted(path, err)
		}
		seen, err := folder.Stat(".")
		if err != nil {
			return nil, errors.Join(unlisted(path, err), folder.Close())
		}
		return &source{Source: store.Source{Path: path, Folder: folder}, seen: seen}, nil
	}
	if f := stream(path); f != nil {
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
func ToEdit(path string) *store.Source { return &store.Source{Path: path, Edit: sqlite.Opener(path)} }

// stream opens a regular file that begins like a JSON object; nil for all
// others, which package sqlite opens or explains.
func stream(path string) *os.File {
	if !isJSON(head(path)) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	return f
}

// isJSON reports whether a file that begins with head begins like a JSON object.
func isJSON(head []byte) bool {
	text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n")
	return strings.HasPrefix(text, "{")
}

// IsDatabase reports whether the file at path begins as a SQLite database does.
func IsDatabase(path string) bool { return sqlite.IsSQLite(head(path)) }

// OfAStore reports whether the file at path is a stream of sessions, a database, or
// the log of one: what must not be replaced by something else.
func OfAStore(ctx context.Context, path string) bool {
	begins := head(path)
	return sqlite.IsSQLite(begins) || sqlite.IsLog(begins) || isJSON(begins) && isStore(ctx, path)
}

// WithLogs are a store file and the files that SQLite keeps beside it.
func WithLogs(path string) []string {
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}

// head is the beginning of a regular file; shorter or empty when it cannot be
// read. Others, such as a named pipe, may block.
func head(path string) []byte {
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

// spooled copies standard input into a private file, because adapters read a
// stream more than once.
func spooled(stdin io.Reader) (*source, error) {
	folder, err := os.MkdirTemp("", "sessctl-")
	if err != nil {
		return nil, err
	}
	s := &source{Source: store.Source{Path: "-"}, spool: folder}
	f, err := os.OpenFile(filepath.Join(folder, "stdin.ndjson"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, s.close())
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
		err = problem.New(problem.Unreadable, "Pipe a canonical stream into it, as `sessctl export` writes one.", "standard input is empty")
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}
