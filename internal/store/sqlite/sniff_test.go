package sqlite

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
)

func TestSniff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, walRows(10)...)
	ok(t, os.WriteFile(path+"-journal", []byte("x"), 0o600))
	f, err := Sniff(path)
	ok(t, err)
	if f.Path != path || f.Size != 8192 || f.Header != (Header{PageSize: 4096, WAL: true, Pages: 2}) ||
		f.WAL != -1 || f.SHM != -1 || f.Journal != 1 {
		t.Errorf("%+v", f)
	}
}

func TestSniffRefuses(t *testing.T) {
	sound := filepath.Join(t.TempDir(), "sound.db")
	create(t, sound, rows(10)...)
	database, err := os.ReadFile(sound)
	ok(t, err)
	changed := func(at int, b ...byte) []byte {
		c := bytes.Clone(database)
		copy(c[at:], b)
		return c
	}
	random := make([]byte, 4096)
	chaCha := rand.NewChaCha8([32]byte{})
	_, _ = chaCha.Read(random)
	tests := []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, "is empty (0 bytes)"},
		{"text", []byte("These are my notes about the build, of which none is for a machine.\n"), "is not a session store: it is plain text (68 bytes)"},
		{"JSON", []byte(`{"type":"session"}`), "plain text (18 bytes)"},
		{"HTML", []byte("<!DOCTYPE html><html></html>"), "an HTML page"},
		{"JPEG", []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), "a JPEG image"},
		{"PNG", []byte("\x89PNG\x0d\x0a\x1a\x0a\x00\x00"), "a PNG image"},
		{"zip", append([]byte("PK\x03\x04"), random...), "a zip archive (4.1 kB)"},
		{"gzip", append([]byte("\x1f\x8b\x08"), random...), "a gzip archive"},
		{"PDF", []byte("%PDF-1.7\n"), "a PDF document"},
		{"font", []byte("wOFF\x00\x01"), "a file of type font/woff"},
		{"program", append([]byte("\x7fELF"), make([]byte, 2000)...), "a binary file of unknown type (2.0 kB)"},
		{"random", random, "it looks encrypted (4.1 kB)"},
		{"less random", random[:1024], "it looks encrypted (1.0 kB)"},
		{"magic alone", database[:16], "only 16 bytes of a SQLite database are left"},
		{"half a header", database[:99], "only 99 bytes"},
		{"damaged magic", changed(3, 0), "looks like a SQLite database whose first 16 bytes are damaged"},
		{"page size 0", changed(16, 0, 0), "header of this SQLite database is damaged (page size 0)"},
		{"page size 1000", changed(16, 3, 232), "page size 1000"},
		{"read version 3", changed(19, 3), "newer SQLite (read version 3)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notes.txt")
			ok(t, os.WriteFile(path, test.content, 0o600))
			refused(t, path, test.want)
		})
	}
}

func TestSniffRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	refused(t, filepath.Join(dir, "missing.db"), "there is no file")
	refused(t, dir, "it is a directory")
	link := filepath.Join(dir, "dangling")
	if os.Symlink("missing.db", link) == nil {
		refused(t, link, "there is no file")
	}
	below := filepath.Join(dir, "file")
	ok(t, os.WriteFile(below, []byte("x"), 0o600))
	want := "cannot be read"
	if runtime.GOOS == "windows" { // which does not tell this from a missing file
		want = "there is no file"
	}
	refused(t, filepath.Join(below, "session.db"), want)
}

func TestSniffPage65536(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, append([]string{"pragma page_size=65536"}, rows(10)...)...)
	f, err := Sniff(path)
	ok(t, err)
	if f.Header.PageSize != 65536 || count(t, open(t, path)) != 10 {
		t.Errorf("%+v", f.Header)
	}
}

func TestEmptyFileWithLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	killed(t, path, walRows(10)...)
	ok(t, os.Truncate(path, 0))
	_, err := Sniff(path)
	if p, is := err.(*problem.Error); !is || !strings.Contains(p.Next, "keep "+path+"-wal") {
		t.Errorf("%v", err)
	}
}

// refused checks that Sniff and Open give the same problem.
func refused(t *testing.T, path, want string) {
	t.Helper()
	_, err := Sniff(path)
	if problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if _, err2 := Open(t.Context(), path, Options{}); err2 == nil || err2.Error() != err.Error() {
		t.Errorf("Open says %v, Sniff says %v", err2, err)
	}
}
