package outline

import (
	"encoding/binary"
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
	what := byte(it.Kind) | byte(it.Role)<<4
	flags, seconds, nanos := uint64(it.Flags), it.Time.Unix(), uint64(it.Time.Nanosecond())
	timed, sized, modelled := !it.Time.IsZero(), it.Size != 0, it.Model != ""
	calls, results, blocks := len(it.Calls) > 0, len(it.Results) > 0, len(it.Blocks) > 0
	rare := it.Child != "" || it.KeptFrom != 0 || it.Branch != "" || it.Invocation != "" || it.Scope != "" || it.Node != "" || len(it.Outputs) > 0
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
		it.Kind, it.Role, it.Flags = session.Kind(what&0xf), session.Role(what>>4), session.Flags(flags)
		if timed {
			it.Time = time.Unix(seconds, int64(nanos)).UTC()
		}
	}
}

// rareOfItem is what few items have.
func (c *coder) rareOfItem(it *session.Item) {
	child, kept, branch, invocation := it.Child != "", it.KeptFrom != 0, it.Branch != "", it.Invocation != ""
	scope, node, outputs := it.Scope != "", it.Node != "", len(it.Outputs) > 0
	c.bits(&child, &kept, &branch, &invocation, &scope, &node, &outputs)
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
	c.bits(&signature, &pixels)
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
