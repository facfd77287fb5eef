package sqlite

import (
	"io"
	"io/fs"
	"os"
)

// ahead reads a file in pieces of many pages where it is read in its order: a call of the
// system costs several times what it costs to copy a page.
type ahead struct {
	file  io.ReaderAt
	piece []byte
	from  int64 // where the piece is in the file
}

// pieceSize is a multiple of every page size. Pieces are longer where it is known which pages
// are needed.
const pieceSize = 1 << 16

// ReadAt implements io.ReaderAt. What cannot be read in a piece is read by itself.
func (a *ahead) ReadAt(p []byte, at int64) (int, error) {
	end := a.from + int64(len(a.piece))
	if at >= a.from && at+int64(len(p)) > end && at < end+pieceSize {
		a.load(at, pieceSize)
		end = at + int64(len(a.piece))
	}
	if at >= a.from && at+int64(len(p)) <= end {
		return copy(p, a.piece[at-a.from:]), nil
	}
	a.piece, a.from = a.piece[:0], at+int64(len(p))
	return a.file.ReadAt(p, at)
}

// load reads a piece of the file, or what there is of it.
func (a *ahead) load(at, size int64) {
	if cap(a.piece) == 0 {
		a.piece = make([]byte, 4*pieceSize)
	}
	n, _ := a.file.ReadAt(a.piece[:size], at)
	a.piece, a.from = a.piece[:n], at
}

// files are the one file that a connection reads, for SQLite.
type files struct{ raw *os.File }

// Open implements fs.FS, whatever the file is called.
func (f files) Open(string) (fs.File, error) {
	return &pageFile{ahead: ahead{file: f.raw}, raw: f.raw}, nil
}

type pageFile struct {
	ahead
	raw *os.File
	at  int64
}

func (f *pageFile) Stat() (fs.FileInfo, error) { return f.raw.Stat() }
func (f *pageFile) Close() error               { return nil } // the handle is the DB's

func (f *pageFile) Seek(at int64, _ int) (int64, error) {
	f.at = at
	return at, nil
}

func (f *pageFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	return n, err
}
