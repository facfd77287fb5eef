package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// Lengths in a write-ahead log (file format 4.1).
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
)

// walHeader is the header of a write-ahead log.
type walHeader struct {
	pageSize int
	salt     [8]byte // every frame since the log last began anew carries it
	bigEnd   bool    // byte order of the numbers that the checksums add up
	sum      checksum
}

// parseWALHeader reads a header; ok is what SQLite decides about using the log.
func parseWALHeader(b []byte) (h walHeader, ok bool) {
	if len(b) < walHeaderSize {
		return h, false
	}
	be := binary.BigEndian
	sign := be.Uint32(b)
	h.bigEnd = sign&1 == 1
	h.pageSize = int(be.Uint32(b[8:]))
	copy(h.salt[:], b[16:24])
	h.sum.addBytes(b[:24], h.bigEnd)
	return h, sign&^1 == 0x377f0682 && be.Uint32(b[4:]) == 3007000 && validPageSize(h.pageSize) && h.sum.isStoredAs(b[24:32])
}

// checksum is the running checksum of a log (file format 4.2).
type checksum [2]uint32

// addBytes takes in b, whose length is a multiple of 8.
func (c *checksum) addBytes(b []byte, bigEnd bool) {
	s0, s1 := c[0], c[1]
	for ; len(b) >= 8; b = b[8:] {
		x, y := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		if bigEnd {
			x, y = bits.ReverseBytes32(x), bits.ReverseBytes32(y)
		}
		s0 += x + s1
		s1 += y + s0
	}
	c[0], c[1] = s0, s1
}

func (c *checksum) isStoredAs(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == c[0] && binary.BigEndian.Uint32(stored[4:]) == c[1]
}

// walWalk is what reading a log from its start finds, independently of SQLite.
type walWalk struct {
	headerOK bool
	salt     [8]byte // of the header
	frames   int     // whole frames that the file has room for
	valid    int     // frames from the start whose salt and checksum are right
	// committed is how many of the valid frames belong to commits, and pages
	// the size of the database after the last of them.
	committed int
	commits   int
	pages     uint32
	// beyond holds the pages above the given number that the commits contain.
	beyond map[uint32]bool
	// lost counts frames behind the valid ones, up to the last that ends a
	// commit of the current salt. A writer that is killed leaves frames behind
	// the end too, but none of them ends a commit.
	lost        int
	lostCommits int
}

// walkWAL reads a log of the given size. Pages above `above` are noted.
func walkWAL(r io.ReaderAt, size int64, above uint32) (walWalk, error) {
	var w walWalk
	head := make([]byte, walHeaderSize)
	if n, err := r.ReadAt(head, 0); n < walHeaderSize {
		return w, unlessEOF(err)
	}
	h, ok := parseWALHeader(head)
	if !ok {
		return w, nil
	}
	w.headerOK, w.salt = true, h.salt
	stride := int64(frameHeaderSize + h.pageSize)
	w.frames = int(max(size-walHeaderSize, 0) / stride)
	if err := w.readFrames(io.NewSectionReader(r, walHeaderSize, int64(w.frames)*stride), h, above); err != nil {
		return w, err
	}
	return w, w.searchCommits(r, h, stride)
}

// readFrames reads frames as long as each continues the one before.
func (w *walWalk) readFrames(r io.Reader, h walHeader, above uint32) error {
	frame := make([]byte, frameHeaderSize+h.pageSize)
	sum := h.sum
	var open []uint32 // pages noted since the last commit
	for w.valid < w.frames {
		if _, err := io.ReadFull(r, frame); err != nil {
			return unlessEOF(err)
		}
		page, commit := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
		sum.addBytes(frame[:8], h.bigEnd)
		sum.addBytes(frame[frameHeaderSize:], h.bigEnd)
		if page == 0 || !bytes.Equal(frame[8:16], h.salt[:]) || !sum.isStoredAs(frame[16:24]) {
			return nil
		}
		w.valid++
		if page > above {
			open = append(open, page)
		}
		if commit != 0 {
			w.noteCommit(commit, open)
			open = open[:0]
		}
	}
	return nil
}

func (w *walWalk) noteCommit(pages uint32, noted []uint32) {
	w.committed, w.commits, w.pages = w.valid, w.commits+1, pages
	for _, page := range noted {
		if w.beyond == nil {
			w.beyond = map[uint32]bool{}
		}
		w.beyond[page] = true
	}
}

// searchCommits looks for commits of the current salt behind the valid frames.
func (w *walWalk) searchCommits(r io.ReaderAt, h walHeader, stride int64) error {
	head := make([]byte, frameHeaderSize)
	for i := w.valid; i < w.frames; i++ {
		if _, err := r.ReadAt(head, walHeaderSize+int64(i)*stride); err != nil {
			return unlessEOF(err)
		}
		if bytes.Equal(head[8:16], h.salt[:]) && binary.BigEndian.Uint32(head[4:]) != 0 {
			w.lost = i + 1 - w.valid
			w.lostCommits++
		}
	}
	return nil
}

// unlessEOF drops the end of a file that shrank while it was read.
func unlessEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// inspectWAL walks the -wal and reports commits that SQLite cannot reach.
func (db *DB) inspectWAL(filePages uint32) (walWalk, error) {
	if db.File.WAL <= 0 {
		return walWalk{}, nil
	}
	log, err := os.Open(db.File.real + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return walWalk{}, nil
	}
	if err != nil {
		return walWalk{}, cannotRead(db.File.Path+"-wal", err)
	}
	defer func() { _ = log.Close() }()
	w, err := db.walkLog(log, filePages)
	if err != nil {
		return w, cannotRead(db.File.Path+"-wal", err)
	}
	switch {
	case w.lost > 0:
		db.addDamage("wal", w.lostCommits, "the -wal file is damaged at frame %d of %d: SQLite ignores the %d commits after that, "+
			"so the newest messages are missing", w.valid+1, w.frames, w.lostCommits)
	case !w.headerOK:
		if commits := db.headlessCommits(log); commits > 0 {
			db.addDamage("wal", commits, "the header of the -wal file (%s) is destroyed: SQLite ignores the file, which holds "+
				"at least %d commits, so the newest messages are missing", bytesText(db.File.WAL), commits)
		}
	}
	return w, nil
}

// steady is for how long a break in a log has to stay beside a writer: one that the system
// interrupts within a frame goes on much sooner.
const steady = 600 * time.Millisecond

// walkLog walks the log. Beside a writer the end is a moving target: a frame may be
// half written when it is read, and whole, with others behind it, a moment later. So a break
// counts only if it stays, and the log was not begun anew meanwhile, which can give another
// break at the same frame.
func (db *DB) walkLog(log *os.File, filePages uint32) (walWalk, error) {
	info, err := log.Stat()
	if err != nil {
		return walWalk{}, err
	}
	w, err := walkWAL(log, info.Size(), filePages)
	if db.Writer.State == session.WriterDead {
		return w, err
	}
	for waited := time.Duration(0); err == nil && (!w.headerOK || w.lost > 0) && waited < steady; waited += steady / 20 {
		time.Sleep(steady / 20)
		var again walWalk
		if again, err = walkWAL(log, info.Size(), filePages); again.valid != w.valid || again.salt != w.salt {
			again.lost = 0
		}
		w = again
	}
	return w, err
}

// headlessCommits counts the commits in a log without a usable header: frames
// in the database's page size that carry the salt of the first one.
func (db *DB) headlessCommits(log io.ReaderAt) int {
	head, salt, commits := make([]byte, frameHeaderSize), []byte(nil), 0
	stride := int64(frameHeaderSize + db.File.Header.PageSize)
	for at := int64(walHeaderSize); at+stride <= db.File.WAL; at += stride {
		if _, err := log.ReadAt(head, at); err != nil {
			break
		}
		if salt == nil {
			salt = bytes.Clone(head[8:16])
		}
		page := binary.BigEndian.Uint32(head)
		if page == 0 || !bytes.Equal(head[8:16], salt) {
			break
		}
		if binary.BigEndian.Uint32(head[4:]) != 0 {
			commits++
		}
	}
	return commits
}
