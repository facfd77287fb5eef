package dockeragent

import (
	"bytes"
	"time"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// message is what an item's outline needs of one stored chat message. The
// []byte fields point into the decoded bytes or into the decoder and are valid
// until its next decode.
type message struct {
	role     session.Role
	roleName []byte // the stored name where role is NoRole

	text         session.Digest // of the content
	hasText      bool           // the content or a text part holds more than white space
	hasMedia     bool           // multi_content has a part that is no text
	hasReasoning bool
	flags        session.Flags   // what the text gives the item
	blocks       []session.Block // nil when there is nothing to tell
	size         int64           // of what it adds to a request, in bytes
	meaning      session.Digest  // the same for every encoding of the same message
	task         session.Digest  // of the task that a system message hands to a child, 0 without

	calls       []call
	callID      []byte // the call that a tool message answers
	isError     bool
	placeholder bool // a stand-in for a result that the writer did not have
	synthetic   bool // written by a repair

	createdAt time.Time
	hasTime   bool
	badTime   bool // created_at is there and is not RFC 3339

	model     []byte
	hasUsage  bool
	tokensIn  int64
	tokensOut int64
	cost      float64 // dollars
}

// call is one tool call. delegation is nil where the tool starts no child.
type call struct {
	id, name   []byte
	form       session.ArgsForm
	delegation *session.Delegation
}

// decoder decodes messages one after the other, reusing its space. It takes
// two paths: the fast one reads the forms that docker agent writes, in one pass
// and without allocating; whatever it does not know for certain goes to the
// exact one, which asks encoding/json as docker agent does. Both only fill a
// record, so that what is derived from it cannot differ between them.
type decoder struct {
	scan        scanner
	record      record
	meaning     session.Meaning
	definitions definitionCache
	scratch     []byte
}

// decode reads the stored bytes of a message; agent is the row's agent_name.
// The error says what docker agent's own decoder would say and where, and
// nothing of what the message says; m is empty then.
func (d *decoder) decode(data []byte, agent string, m *message) error {
	*m = message{calls: m.calls[:0], blocks: m.blocks[:0]}
	if !d.fast(data) {
		if err := d.exact(data); err != nil {
			return err
		}
	}
	d.describe(agent, m)
	return nil
}

// describe derives the message from the record. It runs after the last key,
// because much depends on the role and keys come in any order.
func (d *decoder) describe(agent string, m *message) {
	r := &d.record
	m.role = session.ParseRole(view(r.role))
	if m.role == session.NoRole {
		m.roleName = r.role
	}
	m.text = r.content.digest()
	m.hasText = !r.content.blank()
	for i := range r.parts {
		p := &r.parts[i]
		m.hasText = m.hasText || p.isText() && !p.text.blank()
		m.hasMedia = m.hasMedia || !p.isText()
	}
	m.hasReasoning = !r.reasoning.empty()
	m.meaning = d.digest(m.role, agent, m.text)
	for i := range r.calls {
		m.calls = append(m.calls, d.call(&r.calls[i]))
	}
	m.callID, m.isError = r.callID, r.isError
	m.synthetic = r.marked
	switch m.role {
	case session.Tool:
		m.placeholder = d.isPlaceholder(r.content)
	case session.System:
		m.task = d.task(r.content)
	}
	if len(r.createdAt) > 0 {
		t, err := time.Parse(time.RFC3339, view(r.createdAt))
		m.createdAt, m.hasTime, m.badTime = t, err == nil, err != nil
	}
	m.model, m.hasUsage = r.model, r.hasUsage
	m.tokensIn, m.tokensOut, m.cost = r.tokensIn, r.tokensOut, r.cost
	m.flags, m.size = r.textFlags(m.role), r.size(m.role)
	m.blocks = d.blocks(m.role, m.blocks)
}

// digest is the meaning of the record. Every part has a fixed length and the
// repeated ones begin with a mark, so that no two records run together.
func (d *decoder) digest(role session.Role, agent string, text session.Digest) session.Digest {
	r, w := &d.record, &d.meaning
	w.Reset(role, agent)
	if role == session.NoRole {
		w.Add(session.DigestOf(r.role))
	}
	w.Add(text)
	w.Add(r.reasoning.digest())
	w.Add(session.DigestOf(r.callID))
	w.Mark(flag(r.isError))
	for i := range r.parts {
		p := &r.parts[i]
		w.Mark('p')
		w.Mark(flag(p.image))
		w.Mark(flag(p.file))
		for _, l := range [...]literal{p.kind, p.text, p.url, p.detail, p.path, p.fileID, p.mimeType} {
			w.Add(l.digest())
		}
		w.Add(session.DigestOf(p.document))
	}
	for i := range r.calls {
		c := &r.calls[i]
		w.Mark('c')
		w.Add(session.DigestOf(c.id))
		w.Add(session.DigestOf(c.name))
		w.Add(c.arguments.digest())
	}
	return w.Digest()
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// call looks into the arguments only where the tool starts a child.
func (d *decoder) call(c *callRecord) call {
	out := call{id: c.id, name: c.name, form: d.form(c.arguments)}
	if session.IsDelegation(view(c.name)) {
		out.delegation = session.DelegationFor(string(c.name), string(d.unquote(c.arguments)))
	}
	return out
}

// maxPlaceholder is the longest literal that is looked at as a placeholder.
// They are short, and nearly every result is not.
const maxPlaceholder = 600

func (d *decoder) isPlaceholder(content literal) bool {
	if bytes.HasPrefix(content, []byte(`"`+session.SyntheticPrefix)) {
		return true
	}
	if d.record.marked { // a real result that a repair put back, whatever it says
		return false
	}
	return len(content) <= maxPlaceholder && session.IsPlaceholder(view(d.unquote(content)))
}

// task finds what docker agent writes into the first message of a child. The
// last end mark counts: a task may quote a prompt that has marks of its own.
func (d *decoder) task(content literal) session.Digest {
	if !bytes.Contains(content, []byte(`\u003ctask\u003e`)) {
		return 0
	}
	_, rest, _ := bytes.Cut(d.unquote(content), []byte("<task>\n"))
	if end := bytes.LastIndex(rest, []byte("\n</task>")); end >= 0 {
		return session.DigestOf(rest[:end])
	}
	return 0
}

// unquote gives the text of a literal, valid until the next call.
func (d *decoder) unquote(l literal) []byte {
	if bytes.IndexByte(l, '\\') < 0 {
		return l.inner()
	}
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], l) // never fails on a literal
	return d.scratch
}

// view is b as a string without a copy, for callees that keep nothing of it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
