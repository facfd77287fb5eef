package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/sessctl/sessctl/internal/session"
)

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
	w, err := db.walk(log, filePages)
	if err != nil {
		return w, cannotRead(db.File.Path+"-wal", err)
	}
	switch {
	case w.lost > 0:
		db.damaged("wal", w.lostCommits, "the -wal is damaged at frame %d of %d: SQLite stops there and leaves out the %d commits "+
			"behind it, so the newest messages are missing", w.valid+1, w.frames, w.lostCommits)
	case !w.headerOK:
		if commits := db.headlessCommits(log); commits > 0 {
			db.damaged("wal", commits, "the header of the -wal (%s) is destroyed: SQLite leaves out all of it, which is "+
				"at least %d commits, so the newest messages are missing", bytesText(db.File.WAL), commits)
		}
	}
	return w, nil
}

// walk walks the log. Beside a live writer the end is a moving target: a frame may be
// half written when it is read, and whole, with others behind it, a moment later. So a break
// counts only if it is still there when looked at again, and the log was not begun anew
// meanwhile, which can give another break at the same frame.
func (db *DB) walk(log *os.File, filePages uint32) (walWalk, error) {
	info, err := log.Stat()
	if err != nil {
		return walWalk{}, err
	}
	w, err := walkWAL(log, info.Size(), filePages)
	if err != nil || db.Writer.State != session.WriterLive || (w.headerOK && w.lost == 0) {
		return w, err
	}
	again, err := walkWAL(log, info.Size(), filePages)
	if again.valid != w.valid || again.salt != w.salt {
		again.lost = 0
	}
	return again, err
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
