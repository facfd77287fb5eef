// Package outline keeps the outlines of a whole store in memory: packed to
// about sixty bytes each, in slabs without pointers, so that a million items
// cost the garbage collector nothing. It serves adapters whose store is read
// fastest in row order and has to be grouped by session afterwards. It keeps every field
// of the model but texts; fields_test.go holds that.
package outline

import (
	"encoding/binary"
	"iter"

	"github.com/sessctl/sessctl/internal/session"
)

// Memory comes in slabs. The first is the smallest, so that a log of a few items
// is small, and each is twice as large as the one before, up to slab bytes; a
// longer record gets its own.
const (
	slab      = smallest << doublings
	smallest  = 1 << 11
	doublings = 7
)

// Log is an append-only list of outlines, linked by session. It is written by
// one goroutine; several logs of one store are read together by Items.
type Log struct {
	slabs [][]byte
	count []uint32
	last  []place // the newest record of each session, by its number
	names names
	buf   []byte
}

// place is where a record starts: slab number and offset, plus one, so that 0
// means "none".
type place uint64

func at(slab, offset int) place { return place(slab)<<32 | place(offset) + 1 }

func (p place) slab() int   { return int((p - 1) >> 32) }
func (p place) offset() int { return int((p - 1) & 0xffffffff) }

// NewLog makes an empty log.
func NewLog() *Log { return &Log{} }

// Add appends the outline of an item of the session with this number. The
// strings of the item are copied; its body is not kept. Records are never
// changed afterwards, so what Items yields points into them.
func (l *Log) Add(session uint32, it *session.Item) {
	for uint32(len(l.last)) <= session {
		l.last, l.count = append(l.last, 0), append(l.count, 0)
	}
	l.count[session]++
	b := l.pack(binary.AppendUvarint(l.buf[:0], uint64(l.last[session])), it)
	l.buf = b
	n := len(l.slabs) - 1
	if n < 0 || len(l.slabs[n])+len(b) > cap(l.slabs[n]) {
		n++
		l.slabs = append(l.slabs, make([]byte, 0, max(smallest<<min(n, doublings), len(b))))
	}
	l.last[session] = at(n, len(l.slabs[n]))
	l.slabs[n] = append(l.slabs[n], b...)
}

func (l *Log) pack(b []byte, it *session.Item) []byte {
	c := coder{b: b, names: &l.names}
	c.item(it)
	return c.b
}

// Count is the number of outlines of one session.
func (l *Log) Count(number uint32) int {
	if number >= uint32(len(l.count)) {
		return 0
	}
	return int(l.count[number])
}

// Items yields the outlines of one session, newest first: the caller sorts.
func (l *Log) Items(number uint32) iter.Seq[session.Item] {
	return func(yield func(session.Item) bool) {
		if number >= uint32(len(l.last)) {
			return
		}
		for p := l.last[number]; p != 0; {
			record := l.slabs[p.slab()][p.offset():]
			before, n := binary.Uvarint(record)
			c := coder{b: record[n:], reads: true, names: &l.names}
			var it session.Item
			if c.item(&it); !yield(it) {
				return
			}
			p = place(before)
		}
	}
}

// names numbers the strings that repeat in a store: agents, tools, tables.
type names struct {
	list  []string
	index map[string]uint64
}

func (n *names) number(s string) uint64 {
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
	return i
}
