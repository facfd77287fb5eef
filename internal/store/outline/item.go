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

// item is a whole record. What is empty takes a bit of those that say what is there.
func (c *coder) item(it *session.Item) {
	const note = 1 << 7
	what := byte(it.Kind) | byte(it.Role)<<4
	if it.Note {
		what |= note
	}
	flags, seconds, nanos := uint64(it.Flags), it.Time.Unix(), uint64(it.Time.Nanosecond())
	timed, sized, modelled := !it.Time.IsZero(), it.Size != 0, it.Model != ""
	calls, results, blocks := len(it.Calls) > 0, len(it.Results) > 0, len(it.Blocks) > 0
	rare := it.Child != "" || it.KeptFrom != 0 || it.Branch != "" || it.Invocation != "" || it.Scope != "" || it.Node != "" || len(it.Outputs) > 0 || it.Refusal != session.Refusal{} || it.Provider != ""
	precise := nanos != 0

	c.byte(&what)
	c.bits(&timed, &precise, &sized, &modelled, &calls, &results, &blocks, &rare)
	c.uint(&flags)
	c.name(&it.Table)
	c.string(&it.Key)
	c.int(&it.Position)
	c.name(&it.Agent)
	c.digest(&it.Meaning)
	c.digest(&it.Text)
	if timed {
		c.int(&seconds)
	}
	if precise {
		c.uint(&nanos)
	}
	if sized {
		c.int(&it.Size)
	}
	if modelled {
		c.name(&it.Model)
	}
	if rare {
		c.rareOfItem(it)
	}
	if calls {
		each(c, &it.Calls, c.call)
	}
	if results {
		each(c, &it.Results, func(r *session.Result) { c.result(r, it.Text) })
	}
	if blocks {
		each(c, &it.Blocks, c.block)
	}
	if c.reads {
		it.Kind, it.Role, it.Flags = session.Kind(what&0xf), session.Role(what>>4&0x7), session.Flags(flags)
		it.Note = what&note != 0
		if timed {
			it.Time = time.Unix(seconds, int64(nanos)).UTC()
		}
	}
}

// rareOfItem is what few items have.
func (c *coder) rareOfItem(it *session.Item) {
	child, kept, branch, invocation := it.Child != "", it.KeptFrom != 0, it.Branch != "", it.Invocation != ""
	scope, node, outputs, refused := it.Scope != "", it.Node != "", len(it.Outputs) > 0, it.Refusal != session.Refusal{}
	c.bits(&child, &kept, &branch, &invocation, &scope, &node, &outputs, &refused)
	c.name(&it.Provider)
	if child {
		c.string(&it.Child)
	}
	if kept {
		c.int(&it.KeptFrom)
	}
	if branch {
		c.name(&it.Branch)
	}
	if invocation {
		c.name(&it.Invocation)
	}
	if scope {
		c.name(&it.Scope)
	}
	if node {
		c.name(&it.Node)
	}
	if outputs {
		each(c, &it.Outputs, func(o *session.Output) {
			c.bits(&o.Outside, &o.Hash)
			c.string(&o.Path)
			c.string(&o.Real)
			c.int(&o.Bytes)
		})
	}
	if refused {
		c.number(&it.Refusal.Status)
		c.string(&it.Refusal.Text)
	}
}

func (c *coder) call(call *session.Call) {
	d := call.Delegation
	delegates := d != nil
	asks, rare := call.Question != session.Question{}, false
	if delegates {
		rare = d.Run != "" || d.Likely || d.Apart || d.Tools != nil || d.Timeout != 0 || d.Correlation != ""
	}
	c.string(&call.ID)
	c.name(&call.Name)
	c.byte((*byte)(&call.Form))
	c.bits(&delegates, &call.Server, &call.Waits, &call.Asked, &asks, &rare)
	if delegates {
		if c.reads {
			call.Delegation = &session.Delegation{}
		}
		c.delegation(call.Delegation, rare)
	}
	if asks {
		c.question(&call.Question)
	}
}

func (c *coder) delegation(d *session.Delegation, rare bool) {
	c.name(&d.Agent)
	c.digest(&d.Task)
	c.string(&d.Child)
	tools := d.Tools != nil
	if c.bits(&d.Blocking, &tools, &d.Likely, &d.Apart); !rare {
		return
	}
	c.string(&d.Run)
	if tools {
		each(c, &d.Tools, c.name)
	}
	c.int((*int64)(&d.Timeout))
	c.string(&d.Correlation)
}

// result leaves out a digest that is that of the item's text.
func (c *coder) result(r *session.Result, text session.Digest) {
	rare := r.Question != session.Question{} || r.Child != "" || r.Answer != 0 || r.Correlation != ""
	same := r.Digest == text
	c.string(&r.CallID)
	c.name(&r.Name)
	c.bits(&r.IsError, &r.Synthetic, &r.Pending, &r.Null, &r.Server, &same, &rare)
	switch {
	case !same:
		c.digest(&r.Digest)
	case c.reads:
		r.Digest = text
	}
	if rare {
		c.question(&r.Question)
		c.string(&r.Child)
		c.digest(&r.Answer)
		c.string(&r.Correlation)
	}
}

func (c *coder) block(k *session.Block) {
	nth, name, id, with := k.Nth != 0, k.Name != "", k.ID != "", k.With != ""
	text, signature, pixels := k.Text != 0, k.Signature != 0, k.Width != 0 || k.Height != 0
	c.byte((*byte)(&k.Kind))
	c.bits(&k.Unsigned, &k.Blank, &k.Cached, &nth, &name, &id, &with, &text)
	media := k.Media != "" || k.Is != "" || k.Bytes != 0 || k.In != 0
	c.bits(&signature, &pixels, &k.Unsent, &media, &k.Broken, &k.Empty)
	if nth {
		c.number(&k.Nth)
	}
	if name {
		c.name(&k.Name)
	}
	if id {
		c.string(&k.ID)
	}
	if with {
		c.string(&k.With)
	}
	if text {
		c.digest(&k.Text)
	}
	if signature {
		c.digest(&k.Signature)
	}
	if pixels {
		c.number(&k.Width)
		c.number(&k.Height)
	}
	if media {
		c.name(&k.Media)
		c.name(&k.Is)
		c.int(&k.Bytes)
		c.number(&k.In)
	}
}

func (c *coder) question(q *session.Question) {
	c.string(&q.Child)
	c.string(&q.Run)
}

// each is a list, of which an empty one is not nil.
func each[T any](c *coder, list *[]T, one func(*T)) {
	n := uint64(len(*list))
	if c.uint(&n); c.reads {
		*list = make([]T, n)
	}
	for i := range *list {
		one(&(*list)[i])
	}
}

// bits are up to eight of them in a byte.
func (c *coder) bits(list ...*bool) {
	var all byte
	if c.reads {
		c.byte(&all)
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

func (c *coder) byte(v *byte) {
	if !c.reads {
		c.b = append(c.b, *v)
		return
	}
	*v, c.b = c.b[0], c.b[1:]
}

func (c *coder) uint(v *uint64) {
	if !c.reads {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	value, n := binary.Uvarint(c.b)
	*v, c.b = value, c.b[n:]
}

func (c *coder) int(v *int64) {
	if !c.reads {
		c.b = binary.AppendVarint(c.b, *v)
		return
	}
	value, n := binary.Varint(c.b)
	*v, c.b = value, c.b[n:]
}

func (c *coder) number(v *int) {
	n := int64(*v)
	c.int(&n)
	*v = int(n)
}

func (c *coder) digest(v *session.Digest) {
	if !c.reads {
		c.b = binary.LittleEndian.AppendUint64(c.b, uint64(*v))
		return
	}
	*v, c.b = session.Digest(binary.LittleEndian.Uint64(c.b)), c.b[8:]
}

func (c *coder) string(v *string) {
	n := uint64(len(*v))
	c.uint(&n)
	if !c.reads {
		c.b = append(c.b, *v...)
		return
	}
	*v = unsafe.String(unsafe.SliceData(c.b), n) // records never change: see Log.Add
	c.b = c.b[n:]
}

// name is a string that repeats, as its number.
func (c *coder) name(v *string) {
	var number uint64
	if !c.reads {
		number = c.names.number(*v)
	}
	if c.uint(&number); c.reads {
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
