package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/problem"
)

// suffixes are the files that make up a database: itself, the write-ahead log,
// its index in shared memory, and the rollback journal.
var suffixes = [...]string{"", "-wal", "-shm", "-journal"}

// look is what stat says of each of them, nil where there is none.
type look [len(suffixes)]fs.FileInfo

func lookAt(real string) (look, error) {
	var l look
	for i, suffix := range suffixes {
		info, err := os.Lstat(real + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return l, err
		}
		l[i] = info
	}
	return l, nil
}

// size is the length of the i-th file, -1 when there is none.
func (l look) size(i int) int64 {
	if l[i] == nil {
		return -1
	}
	return l[i].Size()
}

// sameFiles reports whether none of the files appeared or vanished since.
func (l look) sameFiles(now look) bool {
	for i := range l {
		if (l[i] == nil) != (now[i] == nil) {
			return false
		}
	}
	return true
}

// difference says how the folder changed since the look, "" when it did not.
func (l look) difference(now look) string {
	for i, suffix := range suffixes {
		name := "the database"
		if suffix != "" {
			name = "its " + suffix + " file"
		}
		was, is := l[i], now[i]
		switch {
		case was == nil && is == nil:
		case was == nil:
			return name + " appeared"
		case is == nil:
			return name + " vanished"
		case !os.SameFile(was, is):
			return name + " was replaced"
		case was.Size() != is.Size():
			return fmt.Sprintf("%s went from %s to %s", name, bytesText(was.Size()), bytesText(is.Size()))
		case !was.ModTime().Equal(is.ModTime()):
			return name + " was written to"
		}
	}
	return ""
}

// meetNeighbours fills in what stands beside the file.
func (f *File) meetNeighbours() error {
	var err error
	if f.seen, err = lookAt(f.real); err != nil {
		return cannotRead(f.Path, err)
	}
	for i, suffix := range suffixes {
		if info := f.seen[i]; info != nil && !info.Mode().IsRegular() {
			return problem.New(problem.Unreadable, "find out who put it there, and move it away",
				"%s cannot be read: %s%s beside it is %s, which SQLite does not follow", f.Path, filepath.Base(f.real), suffix, kindOf(info.Mode()))
		}
	}
	f.WAL, f.SHM, f.Journal = f.seen.size(1), f.seen.size(2), f.seen.size(3)
	if f.WAL > 0 {
		head, err := headOf(f.real+"-wal", walHeaderSize)
		if err != nil {
			return cannotRead(f.Path+"-wal", err)
		}
		_, f.walUsable = parseWALHeader(head)
	}
	if f.Journal > 0 {
		// A journal that was kept after its transaction begins with zeros.
		head, err := headOf(f.real+"-journal", 1)
		if err != nil {
			return cannotRead(f.Path+"-journal", err)
		}
		f.journalHot = len(head) > 0 && head[0] != 0
	}
	return nil
}

// headOf reads up to n bytes from the start of a file. A file that has
// vanished meanwhile has none.
func headOf(path string, n int) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, n)
	n, err = io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return head[:n], nil
}
