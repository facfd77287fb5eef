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

// coder writes an item as a record, or reads one back: each field is named in one
// place for both. It trusts the form of what it reads, which this package wrote.
type coder struct {
	b     []byte // what is written, or is left to read
	reads bool
	names *names
}

// codeItem is a whole record. What is empty takes a bit of those that say what is there.
func (c *coder) codeItem(it *session.Item) {
	const note = 1 << 7
	own := it.Shared
	if own == nil {
		own = &session.Shared{}
	}
	what := byte(it.Kind) | byte(it.Role)<<4
	if it.Note {
		what |= note
	}
	flags, seconds, nanos := uint64(it.Flags), it.Time.Unix(), uint64(it.Time.Nanosecond())
	timed, sized, modelled := !it.Time.IsZero(), it.Size != 0, own.Model != ""
	calls, results, blocks := len(it.Calls) > 0, len(it.Results) > 0, len(it.Blocks) > 0
	rare := *own != session.Shared{Table: own.Table, Agent: own.Agent, Model: own.Model, Home: own.Home}
	precise := nanos != 0

	c.codeByte(&what)
	c.codeBits(&timed, &precise, &sized, &modelled, &calls, &results, &blocks, &rare)
	c.codeUint(&flags)
	c.codeName(&own.Table)
	c.codeString(&it.Key)
	c.codeInt(&it.Position)
	c.codeName(&own.Agent)
	c.codeDigest(&it.Meaning)
	c.codeDigest(&it.Text)
	if timed {
		c.codeInt(&seconds)
	}
	if precise {
		c.codeUint(&nanos)
	}
	if sized {
		c.codeInt(&it.Size)
	}
	if modelled {
		c.codeName(&own.Model)
	}
	if rare {
		c.codeRare(own)
	}
	if calls {
		codeList(c, &it.Calls, c.codeCall)
	}
	if results {
		codeList(c, &it.Results, func(r *session.Result) { c.codeResult(r, it.Text) })
	}
	if blocks {
		codeList(c, &it.Blocks, c.codeBlock)
	}
	if c.reads {
		it.Kind, it.Role, it.Flags = session.Kind(what&0xf), session.Role(what>>4&0x7), session.Flags(flags)
		it.Note = what&note != 0
		if timed {
			it.Time = time.Unix(seconds, int64(nanos)).UTC()
		}
	}
}

// codeRare is what few items have.
func (c *coder) codeRare(own *session.Shared) {
	child, kept, branch, invocation := own.Child != "", own.KeptFrom != 0, own.Branch != "", own.Invocation != ""
	scope, node, outputs, refused := own.Scope != "", own.Node != "", own.Outputs != nil, own.Refusal != session.Refusal{}
	c.codeBits(&child, &kept, &branch, &invocation, &scope, &node, &outputs, &refused)
	c.codeName(&own.Provider)
	if child {
		c.codeString(&own.Child)
	}
	if kept {
		c.codeInt(&own.KeptFrom)
	}
	if branch {
		c.codeName(&own.Branch)
	}
	if invocation {
		c.codeName(&own.Invocation)
	}
	if scope {
		c.codeName(&own.Scope)
	}
	if node {
		c.codeName(&own.Node)
	}
	if outputs {
		if c.reads {
			own.Outputs = new([]session.Output)
		}
		codeList(c, own.Outputs, func(o *session.Output) {
			c.codeBits(&o.Outside, &o.Hash)
			c.codeString(&o.Path)
			c.codeString(&o.Real)
			c.codeInt(&o.Bytes)
		})
	}
	if refused {
		c.codeNumber(&own.Refusal.Status)
		c.codeString(&own.Refusal.Text)
	}
}

func (c *coder) codeCall(call *session.Call) {
	d := call.Delegation
	delegates := d != nil
	asks, rare := call.Question != session.Question{}, false
	if delegates {
		rare = d.Run != "" || d.Likely || d.Apart || d.Tools != nil || d.Timeout != 0 || d.Correlation != ""
	}
	c.codeString(&call.ID)
	c.codeName(&call.Name)
	c.codeByte((*byte)(&call.Form))
	c.codeBits(&delegates, &call.Server, &call.Waits, &call.Asked, &asks, &rare)
	if delegates {
		if c.reads {
			call.Delegation = &session.Delegation{}
		}
		c.codeDelegation(call.Delegation, rare)
	}
	if asks {
		c.codeQuestion(&call.Question)
	}
}

func (c *coder) codeDelegation(d *session.Delegation, rare bool) {
	c.codeName(&d.Agent)
	c.codeDigest(&d.Task)
	c.codeString(&d.Child)
	tools := d.Tools != nil
	if c.codeBits(&d.Blocking, &tools, &d.Likely, &d.Apart); !rare {
		return
	}
	c.codeString(&d.Run)
	if tools {
		codeList(c, &d.Tools, c.codeName)
	}
	c.codeInt((*int64)(&d.Timeout))
	c.codeString(&d.Correlation)
}

// codeResult leaves out a digest that is that of the item's text.
func (c *coder) codeResult(r *session.Result, text session.Digest) {
	rare := r.Question != session.Question{} || r.Child != "" || r.Answer != 0 || r.Correlation != ""
	same := r.Digest == text
	c.codeString(&r.CallID)
	c.codeName(&r.Name)
	c.codeBits(&r.IsError, &r.Synthetic, &r.Pending, &r.Null, &r.Server, &same, &rare)
	switch {
	case !same:
		c.codeDigest(&r.Digest)
	case c.reads:
		r.Digest = text
	}
	if rare {
		c.codeQuestion(&r.Question)
		c.codeString(&r.Child)
		c.codeDigest(&r.Answer)
		c.codeString(&r.Correlation)
	}
}

func (c *coder) codeBlock(k *session.Block) {
	nth, name, id, with := k.Nth != 0, k.Name != "", k.ID != "", k.With != ""
	text, signature, pixels := k.Text != 0, k.Signature != 0, k.Width != 0 || k.Height != 0
	c.codeByte((*byte)(&k.Kind))
	c.codeBits(&k.Unsigned, &k.Blank, &k.Cached, &nth, &name, &id, &with, &text)
	media := k.Media != "" || k.Is != "" || k.Bytes != 0 || k.In != 0
	c.codeBits(&signature, &pixels, &k.Unsent, &media, &k.Broken, &k.Empty)
	if nth {
		c.codeNumber(&k.Nth)
	}
	if name {
		c.codeName(&k.Name)
	}
	if id {
		c.codeString(&k.ID)
	}
	if with {
		c.codeString(&k.With)
	}
	if text {
		c.codeDigest(&k.Text)
	}
	if signature {
		c.codeDigest(&k.Signature)
	}
	if pixels {
		c.codeNumber(&k.Width)
		c.codeNumber(&k.Height)
	}
	if media {
		c.codeName(&k.Media)
		c.codeName(&k.Is)
		c.codeInt(&k.Bytes)
		c.codeNumber(&k.In)
	}
}

func (c *coder) codeQuestion(q *session.Question) {
	c.codeString(&q.Child)
	c.codeString(&q.Run)
}

// codeList is a list, of which an empty one is not nil.
func codeList[T any](c *coder, list *[]T, one func(*T)) {
	n := uint64(len(*list))
	if c.codeUint(&n); c.reads {
		*list = make([]T, n)
	}
	for i := range *list {
		one(&(*list)[i])
	}
}

// codeBits are up to eight of them in a byte.
func (c *coder) codeBits(list ...*bool) {
	var all byte
	if c.reads {
		c.codeByte(&all)
		for i, bit := range list {
			*bit = all>>i&1 != 0
		}
		return
	}
	for i, bit := range list {
		var one byte // set without a branch
		if *bit {
			one = 1
		}
		all |= one << i
	}
	c.b = append(c.b, all)
}

func (c *coder) codeByte(v *byte) {
	if !c.reads {
		c.b = append(c.b, *v)
		return
	}
	*v, c.b = c.b[0], c.b[1:]
}

func (c *coder) codeUint(v *uint64) {
	if !c.reads {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	value, n := binary.Uvarint(c.b)
	*v, c.b = value, c.b[n:]
}

func (c *coder) codeInt(v *int64) {
	if !c.reads {
		c.b = binary.AppendVarint(c.b, *v)
		return
	}
	value, n := binary.Varint(c.b)
	*v, c.b = value, c.b[n:]
}

func (c *coder) codeNumber(v *int) {
	n := int64(*v)
	c.codeInt(&n)
	*v = int(n)
}

func (c *coder) codeDigest(v *session.Digest) {
	if !c.reads {
		c.b = binary.LittleEndian.AppendUint64(c.b, uint64(*v))
		return
	}
	*v, c.b = session.Digest(binary.LittleEndian.Uint64(c.b)), c.b[8:]
}

func (c *coder) codeString(v *string) {
	n := uint64(len(*v))
	c.codeUint(&n)
	if !c.reads {
		c.b = append(c.b, *v...)
		return
	}
	*v = unsafe.String(unsafe.SliceData(c.b), n) // records never change: see Log.AddItem
	c.b = c.b[n:]
}

// codeName is a string that repeats, as its number.
func (c *coder) codeName(v *string) {
	var number uint64
	if !c.reads {
		number = c.names.numberOf(*v)
	}
	if c.codeUint(&number); c.reads {
		*v = c.names.list[number]
	}
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

func placeAt(slab, offset int) place { return place(slab)<<32 | place(offset) + 1 }

func (p place) slabNumber() int { return int((p - 1) >> 32) }
func (p place) slabOffset() int { return int((p - 1) & 0xffffffff) }

// NewLog makes an empty log.
func NewLog() *Log { return &Log{} }

// AddItem appends the outline of an item of the session with this number. The
// strings of the item are copied; its body is not kept. Records are never
// changed afterwards, so what Items yields points into them.
func (l *Log) AddItem(session uint32, it *session.Item) {
	for uint32(len(l.last)) <= session {
		l.last, l.count = append(l.last, 0), append(l.count, 0)
	}
	l.count[session]++
	b := l.packItem(binary.AppendUvarint(l.buf[:0], uint64(l.last[session])), it)
	l.buf = b
	n := len(l.slabs) - 1
	if n < 0 || len(l.slabs[n])+len(b) > cap(l.slabs[n]) {
		n++
		l.slabs = append(l.slabs, make([]byte, 0, max(smallest<<min(n, doublings), len(b))))
	}
	l.last[session] = placeAt(n, len(l.slabs[n]))
	l.slabs[n] = append(l.slabs[n], b...)
}

func (l *Log) packItem(b []byte, it *session.Item) []byte {
	c := coder{b: b, names: &l.names}
	c.codeItem(it)
	return c.b
}

// Count counts the number of outlines of one session.
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
		var sharing session.Sharing
		for p := l.last[number]; p != 0; {
			record := l.slabs[p.slabNumber()][p.slabOffset():]
			before, n := binary.Uvarint(record)
			c := coder{b: record[n:], reads: true, names: &l.names}
			var it session.Item
			sharing.Begin(&it, "")
			c.codeItem(&it)
			if sharing.Share(&it); !yield(it) {
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

func (n *names) numberOf(s string) uint64 {
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
