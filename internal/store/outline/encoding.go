package outline

import (
	"encoding/binary"
	"unsafe"

	"github.com/sessctl/sessctl/internal/session"
)

// names numbers the strings that repeat in a store: agents, tools, tables.
type names struct {
	list  []string
	index map[string]uint64
}

func (n *names) append(b []byte, s string) []byte {
	i, ok := n.index[s]
	if !ok {
		if n.index == nil {
			n.index = map[string]uint64{}
		}
		s = string([]byte(s)) // the caller's may be short-lived
		i = uint64(len(n.list))
		n.list = append(n.list, s)
		n.index[s] = i
	}
	return binary.AppendUvarint(b, i)
}

func (n *names) read(r *reader) string { return n.list[r.uint()] }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendDigest(b []byte, d session.Digest) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(d))
}

// bit is a mask when it is to be set.
func bit(on bool, mask byte) byte {
	if on {
		return mask
	}
	return 0
}

// reader reads a record that this package wrote: it trusts its form.
type reader struct{ b []byte }

func (r *reader) byte() byte {
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	r.b = r.b[n:]
	return v
}

func (r *reader) digest() session.Digest {
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return session.Digest(v)
}

func (r *reader) string() string {
	n := r.uint()
	s := unsafe.String(unsafe.SliceData(r.b), n) // records never change: see Log.Add
	r.b = r.b[n:]
	return s
}
