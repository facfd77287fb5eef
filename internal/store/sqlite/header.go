package sqlite

import (
	"bytes"
	"encoding/binary"

	"github.com/sessctl/sessctl/internal/problem"
)

// headerSize is the length of the database header at the start of page 1
// (file format 1.3).
const headerSize = 100

var magic = []byte("SQLite format 3\x00")

// IsSQLite reports whether a file that begins with head is a SQLite database.
func IsSQLite(head []byte) bool { return bytes.HasPrefix(head, magic) }

// IsLog reports whether a file that begins with head is the write-ahead log or the
// rollback journal of a database (file format 4.1 and 3).
func IsLog(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x37\x7f\x06\x82")) || bytes.HasPrefix(head, []byte("\x37\x7f\x06\x83")) ||
		bytes.HasPrefix(head, []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"))
}

// Header is what the first 100 bytes of a database say.
type Header struct {
	PageSize int
	WAL      bool // the database is in WAL mode
	// Pages is the size of the database, 0 when the header does not know it
	// (written by a SQLite before 3.7.0: the change counter is not the one
	// that the size was noted for).
	Pages uint32
}

// parseHeader reads head, which holds at least headerSize bytes and the magic.
func parseHeader(path string, head []byte) (Header, error) {
	be := binary.BigEndian
	h := Header{PageSize: int(be.Uint16(head[16:])), WAL: head[19] == 2}
	if h.PageSize == 1 {
		h.PageSize = 65536
	}
	if be.Uint32(head[24:]) == be.Uint32(head[92:]) {
		h.Pages = be.Uint32(head[28:])
	}
	if !validPageSize(h.PageSize) {
		return h, problem.New(problem.Unreadable, recovery(path),
			"%s cannot be read: the header of this SQLite database is damaged (page size %d)", path, h.PageSize)
	}
	if head[19] > 2 {
		return h, problem.New(problem.Unreadable, "",
			"%s cannot be read: its header asks for a newer SQLite (read version %d), or is damaged", path, head[19])
	}
	return h, nil
}

func validPageSize(n int) bool { return n >= 512 && n <= 65536 && n&(n-1) == 0 }

// looksLikeHeader reports whether head is a database header apart from its
// magic: the payload fractions are constants of the format.
func looksLikeHeader(head []byte) bool {
	return len(head) >= headerSize && bytes.Equal(head[21:24], []byte{64, 32, 32})
}
