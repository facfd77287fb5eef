// Package outline keeps the outlines of a whole store in memory: packed to
// about sixty bytes each, in slabs without pointers, so that a million items
// cost the garbage collector nothing. It serves adapters whose store is read
// fastest in row order and has to be grouped by session afterwards.
package outline

import (
	"encoding/binary"
	"iter"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// slab is the size of one piece of memory; a longer record gets its own.
const slab = 1 << 18

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
	b := binary.AppendUvarint(l.buf[:0], uint64(l.last[session]))
	b = l.pack(b, it)
	l.buf = b
	n := len(l.slabs) - 1
	if n < 0 || len(l.slabs[n])+len(b) > cap(l.slabs[n]) {
		l.slabs = append(l.slabs, make([]byte, 0, max(slab, len(b))))
		n++
	}
	l.last[session] = at(n, len(l.slabs[n]))
	l.slabs[n] = append(l.slabs[n], b...)
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
			r := reader{b: l.slabs[p.slab()][p.offset():]}
			p = place(r.uint())
			if !yield(l.unpack(&r)) {
				return
			}
		}
	}
}

// Parts of a record that are left out when they are empty.
const (
	hasTime = 1 << iota
	hasNanos
	hasChild
	hasKept
	hasBranch
	hasInvocation
	hasCalls
	hasResults
)

func (l *Log) pack(b []byte, it *session.Item) []byte {
	parts := partsOf(it)
	b = append(b, byte(it.Kind)|byte(it.Role)<<4)
	b = binary.AppendUvarint(b, uint64(parts))
	b = binary.AppendUvarint(b, uint64(it.Flags))
	b = l.names.append(b, it.Table)
	b = appendString(b, it.Key)
	b = binary.AppendVarint(b, it.Position)
	b = l.names.append(b, it.Agent)
	b = binary.LittleEndian.AppendUint64(b, uint64(it.Meaning))
	b = binary.LittleEndian.AppendUint64(b, uint64(it.Text))
	if parts&hasTime != 0 {
		b = binary.AppendVarint(b, it.Time.Unix())
	}
	if parts&hasNanos != 0 {
		b = binary.AppendUvarint(b, uint64(it.Time.Nanosecond()))
	}
	if parts&hasChild != 0 {
		b = appendString(b, it.Child)
	}
	if parts&hasKept != 0 {
		b = binary.AppendVarint(b, it.KeptFrom)
	}
	if parts&hasBranch != 0 {
		b = l.names.append(b, it.Branch)
	}
	if parts&hasInvocation != 0 {
		b = l.names.append(b, it.Invocation)
	}
	if parts&hasCalls != 0 {
		b = l.packCalls(b, it.Calls)
	}
	if parts&hasResults != 0 {
		b = l.packResults(b, it)
	}
	return b
}

func partsOf(it *session.Item) (parts int) {
	set := func(part int, on bool) {
		if on {
			parts |= part
		}
	}
	set(hasTime, !it.Time.IsZero())
	set(hasNanos, !it.Time.IsZero() && it.Time.Nanosecond() != 0)
	set(hasChild, it.Child != "")
	set(hasKept, it.KeptFrom != 0)
	set(hasBranch, it.Branch != "")
	set(hasInvocation, it.Invocation != "")
	set(hasCalls, len(it.Calls) > 0)
	set(hasResults, len(it.Results) > 0)
	return parts
}

func (l *Log) packCalls(b []byte, calls []session.Call) []byte {
	b = binary.AppendUvarint(b, uint64(len(calls)))
	for i := range calls {
		c := &calls[i]
		b = appendString(b, c.ID)
		b = l.names.append(b, c.Name)
		d := c.Delegation
		if d == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1|boolBit(d.Blocking, 1))
		b = l.names.append(b, d.Agent)
		b = binary.LittleEndian.AppendUint64(b, uint64(d.Task))
		b = appendString(b, d.Child)
	}
	return b
}

// packResults leaves out the digest of a result that is the item's own text.
func (l *Log) packResults(b []byte, it *session.Item) []byte {
	b = binary.AppendUvarint(b, uint64(len(it.Results)))
	for i := range it.Results {
		r := &it.Results[i]
		b = appendString(b, r.CallID)
		b = l.names.append(b, r.Name)
		b = append(b, boolBit(r.IsError, 0)|boolBit(r.Synthetic, 1)|boolBit(r.Pending, 2)|boolBit(r.Digest == it.Text, 3))
		if r.Digest != it.Text {
			b = binary.LittleEndian.AppendUint64(b, uint64(r.Digest))
		}
	}
	return b
}

func boolBit(on bool, bit int) byte {
	if on {
		return 1 << bit
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (l *Log) unpack(r *reader) session.Item {
	first := r.byte()
	parts := int(r.uint())
	it := session.Item{Kind: session.Kind(first & 0xf), Role: session.Role(first >> 4), Flags: session.Flags(r.uint())}
	it.Table = l.names.read(r)
	it.Key = r.string()
	it.Position = r.int()
	it.Agent = l.names.read(r)
	it.Meaning, it.Text = r.digest(), r.digest()
	if parts&hasTime != 0 {
		it.Time = time.Unix(r.int(), 0).UTC()
	}
	if parts&hasNanos != 0 {
		it.Time = it.Time.Add(time.Duration(r.uint()))
	}
	if parts&hasChild != 0 {
		it.Child = r.string()
	}
	if parts&hasKept != 0 {
		it.KeptFrom = r.int()
	}
	if parts&hasBranch != 0 {
		it.Branch = l.names.read(r)
	}
	if parts&hasInvocation != 0 {
		it.Invocation = l.names.read(r)
	}
	if parts&hasCalls != 0 {
		it.Calls = l.unpackCalls(r)
	}
	if parts&hasResults != 0 {
		it.Results = l.unpackResults(r, it.Text)
	}
	return it
}

func (l *Log) unpackCalls(r *reader) []session.Call {
	calls := make([]session.Call, r.uint())
	for i := range calls {
		c := &calls[i]
		c.ID, c.Name = r.string(), l.names.read(r)
		bits := r.byte()
		if bits == 0 {
			continue
		}
		c.Delegation = &session.Delegation{Blocking: bits&2 != 0, Agent: l.names.read(r), Task: r.digest(), Child: r.string()}
	}
	return calls
}

func (l *Log) unpackResults(r *reader, text session.Digest) []session.Result {
	results := make([]session.Result, r.uint())
	for i := range results {
		res := &results[i]
		res.CallID, res.Name = r.string(), l.names.read(r)
		bits := r.byte()
		res.IsError, res.Synthetic, res.Pending, res.Digest = bits&1 != 0, bits&2 != 0, bits&4 != 0, text
		if bits&8 == 0 {
			res.Digest = r.digest()
		}
	}
	return results
}
