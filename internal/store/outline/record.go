// Package outline keeps the outlines of a whole store in memory: packed to
// about sixty bytes each, in slabs without pointers, so that a million items
// cost the garbage collector nothing. It serves adapters whose store is read
// fastest in row order and has to be grouped by session afterwards. It keeps every field
// of the model but texts; fields_test.go holds that.
package outline

import (
	"encoding/binary"
	"iter"
	"time"
	"unsafe"

	"github.com/sessctl/sessctl/internal/session"
)

// Parts of a record that are left out when they are empty. The first seven fit
// into one byte.
const (
	hasTime = 1 << iota
	hasSize
	hasModel
	hasCalls
	hasResults
	hasBlocks
	hasNanos
	hasChild
	hasKept
	hasBranch
	hasInvocation
	hasScope
	hasNode
	hasOutputs
)

func partsOf(it *session.Item) (parts int) {
	set := func(part int, on bool) {
		if on {
			parts |= part
		}
	}
	set(hasTime, !it.Time.IsZero())
	set(hasSize, it.Size != 0)
	set(hasModel, it.Model != "")
	set(hasCalls, len(it.Calls) > 0)
	set(hasResults, len(it.Results) > 0)
	set(hasBlocks, len(it.Blocks) > 0)
	set(hasNanos, !it.Time.IsZero() && it.Time.Nanosecond() != 0)
	set(hasChild, it.Child != "")
	set(hasKept, it.KeptFrom != 0)
	set(hasBranch, it.Branch != "")
	set(hasInvocation, it.Invocation != "")
	set(hasScope, it.Scope != "")
	set(hasNode, it.Node != "")
	set(hasOutputs, len(it.Outputs) > 0)
	return parts
}

func (l *Log) pack(b []byte, it *session.Item) []byte {
	parts := partsOf(it)
	b = append(b, byte(it.Kind)|byte(it.Role)<<4)
	b = binary.AppendUvarint(b, uint64(parts))
	b = binary.AppendUvarint(b, uint64(it.Flags))
	b = l.names.append(b, it.Table)
	b = appendString(b, it.Key)
	b = binary.AppendVarint(b, it.Position)
	b = l.names.append(b, it.Agent)
	b = appendDigest(b, it.Meaning)
	b = appendDigest(b, it.Text)
	if parts&hasTime != 0 {
		b = binary.AppendVarint(b, it.Time.Unix())
	}
	if parts&hasNanos != 0 {
		b = binary.AppendUvarint(b, uint64(it.Time.Nanosecond()))
	}
	if parts&hasSize != 0 {
		b = binary.AppendVarint(b, it.Size)
	}
	if parts&hasModel != 0 {
		b = l.names.append(b, it.Model)
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
	if parts&hasScope != 0 {
		b = l.names.append(b, it.Scope)
	}
	if parts&hasNode != 0 {
		b = l.names.append(b, it.Node)
	}
	if parts&hasCalls != 0 {
		b = l.packCalls(b, it.Calls)
	}
	if parts&hasResults != 0 {
		b = l.packResults(b, it)
	}
	if parts&hasBlocks != 0 {
		b = l.packBlocks(b, it.Blocks)
	}
	if parts&hasOutputs != 0 {
		b = packOutputs(b, it.Outputs)
	}
	return b
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
	if parts&hasSize != 0 {
		it.Size = r.int()
	}
	if parts&hasModel != 0 {
		it.Model = l.names.read(r)
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
	if parts&hasScope != 0 {
		it.Scope = l.names.read(r)
	}
	if parts&hasNode != 0 {
		it.Node = l.names.read(r)
	}
	if parts&hasCalls != 0 {
		it.Calls = l.unpackCalls(r)
	}
	if parts&hasResults != 0 {
		it.Results = l.unpackResults(r, it.Text)
	}
	if parts&hasBlocks != 0 {
		it.Blocks = l.unpackBlocks(r)
	}
	if parts&hasOutputs != 0 {
		it.Outputs = unpackOutputs(r)
	}
	return it
}

// What few calls have. A call with anything of it has a byte that says what.
const (
	callAsks = 1 << iota
	callRun
	callLikely
	callApart
	callTools
	callTimeout
	callCorrelation
)

func rareOfCall(c *session.Call) byte {
	rare := bit(c.Question != session.Question{}, callAsks)
	if d := c.Delegation; d != nil {
		rare |= bit(d.Run != "", callRun) | bit(d.Likely, callLikely) | bit(d.Apart, callApart) | bit(d.Tools != nil, callTools) |
			bit(d.Timeout != 0, callTimeout) | bit(d.Correlation != "", callCorrelation)
	}
	return rare
}

func (l *Log) packRareCall(b []byte, c *session.Call, rare byte) []byte {
	b = append(b, rare)
	if rare&callAsks != 0 {
		b = appendQuestion(b, c.Question)
	}
	d := c.Delegation
	if rare&callRun != 0 {
		b = appendString(b, d.Run)
	}
	if rare&callTools != 0 {
		b = binary.AppendUvarint(b, uint64(len(d.Tools)))
		for _, tool := range d.Tools {
			b = l.names.append(b, tool)
		}
	}
	if rare&callTimeout != 0 {
		b = binary.AppendVarint(b, int64(d.Timeout))
	}
	if rare&callCorrelation != 0 {
		b = appendString(b, d.Correlation)
	}
	return b
}

func (l *Log) unpackRareCall(r *reader, c *session.Call) {
	rare, d := r.byte(), c.Delegation
	if rare&callAsks != 0 {
		c.Question = r.question()
	}
	if d == nil {
		return
	}
	d.Likely, d.Apart = rare&callLikely != 0, rare&callApart != 0
	if rare&callRun != 0 {
		d.Run = r.string()
	}
	if rare&callTools != 0 {
		d.Tools = make([]string, r.uint())
		for i := range d.Tools {
			d.Tools[i] = l.names.read(r)
		}
	}
	if rare&callTimeout != 0 {
		d.Timeout = time.Duration(r.int())
	}
	if rare&callCorrelation != 0 {
		d.Correlation = r.string()
	}
}

// What few results have.
const (
	resultAsks = 1 << iota
	resultChild
	resultAnswer
	resultCorrelation
)

func rareOfResult(r *session.Result) byte {
	return bit(r.Question != session.Question{}, resultAsks) | bit(r.Child != "", resultChild) | bit(r.Answer != 0, resultAnswer) |
		bit(r.Correlation != "", resultCorrelation)
}

func packRareResult(b []byte, r *session.Result, rare byte) []byte {
	b = append(b, rare)
	if rare&resultAsks != 0 {
		b = appendQuestion(b, r.Question)
	}
	if rare&resultChild != 0 {
		b = appendString(b, r.Child)
	}
	if rare&resultAnswer != 0 {
		b = appendDigest(b, r.Answer)
	}
	if rare&resultCorrelation != 0 {
		b = appendString(b, r.Correlation)
	}
	return b
}

func unpackRareResult(r *reader, res *session.Result) {
	rare := r.byte()
	if rare&resultAsks != 0 {
		res.Question = r.question()
	}
	if rare&resultChild != 0 {
		res.Child = r.string()
	}
	if rare&resultAnswer != 0 {
		res.Answer = r.digest()
	}
	if rare&resultCorrelation != 0 {
		res.Correlation = r.string()
	}
}

func appendQuestion(b []byte, q session.Question) []byte {
	return appendString(appendString(b, q.Child), q.Run)
}

func (r *reader) question() session.Question {
	return session.Question{Child: r.string(), Run: r.string()}
}

// The bits of an output.
const (
	isOutside = 1 << iota
	isHash
)

func packOutputs(b []byte, list []session.Output) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		o := &list[i]
		b = append(b, bit(o.Outside, isOutside)|bit(o.Hash, isHash))
		b = binary.AppendVarint(appendString(appendString(b, o.Path), o.Real), o.Bytes)
	}
	return b
}

func unpackOutputs(r *reader) []session.Output {
	list := make([]session.Output, r.uint())
	for i := range list {
		bits := r.byte()
		list[i] = session.Output{Path: r.string(), Real: r.string(), Bytes: r.int(), Outside: bits&isOutside != 0, Hash: bits&isHash != 0}
	}
	return list
}

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
	b := binary.AppendUvarint(l.buf[:0], uint64(l.last[session]))
	b = l.pack(b, it)
	l.buf = b
	n := len(l.slabs) - 1
	if n < 0 || len(l.slabs[n])+len(b) > cap(l.slabs[n]) {
		n++
		l.slabs = append(l.slabs, make([]byte, 0, max(smallest<<min(n, doublings), len(b))))
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
