package dockeragent

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unsafe"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/outline"
)

// part is what one decoder collects; by session number where it concerns one.
type part struct {
	table      string // of its items
	brief      bool   // the messages were not read
	decoder    decoder
	message    message
	log        *outline.Log
	tasks      map[uint32]firstTask
	costs      map[uint32]float64 // of the messages and summaries, in dollars
	references map[uint32][]reference
	faults     map[uint32][]session.Fault // Item is found later, by the key
	names      map[string]string
	item       session.Item
	shared     session.Shared // of the item
}

// firstTask is the task of the system message that comes first in a session.
type firstTask struct {
	position int64
	task     session.Digest
}

// reference is a sub-session item.
type reference struct {
	position, id int64
	child        string
}

func newPart(table string) *part {
	return &part{
		table: table, log: outline.NewLog(), tasks: map[uint32]firstTask{}, costs: map[uint32]float64{},
		references: map[uint32][]reference{}, faults: map[uint32][]session.Fault{}, names: map[string]string{},
	}
}

func (p *part) decodeAll(b *batch) {
	for i := range b.rows {
		w := &b.rows[i]
		p.addRow(w, b.json[w.from:w.to])
	}
}

// addRow adds the outline of one row of session_items.
func (p *part) addRow(w *row, data []byte) {
	it := p.startItem(rowKey(w.id), w.position)
	ref := session.Ref{Table: tableItems, Key: it.Key}
	fault := func(kind session.FaultKind, field, detail string, fallback *string) {
		unloads := kind == session.RequiredNull || kind == session.BadMetadata || kind == session.BadSummary && fallback != nil
		p.faults[w.session] = append(p.faults[w.session], session.Fault{Kind: kind, Ref: ref, Field: field, Detail: detail, Default: fallback, Unloads: unloads})
	}
	for _, u := range w.unfit {
		u.reportFault(fault)
	}
	if p.brief && w.kind != "subsession" {
		it.Shared.Agent = w.agent
		p.log.AddItem(w.session, it)
		return
	}
	switch w.kind {
	case "message":
		p.decodeMessageItem(w.session, w.agent, w.implicit, data, fault)
	case "subsession":
		it.Kind, it.Shared.Child = session.SubSession, w.child
		p.references[w.session] = append(p.references[w.session], reference{w.position, w.id, w.child})
	case "summary":
		it.Kind, it.Text, it.Shared.KeptFrom = session.Summary, w.summary, w.keptFrom
		if w.cost > 0 {
			p.costs[w.session] += w.cost
		}
		if w.summary == 0 {
			fault(session.BadSummary, "summary_text", "the summary has no text: readers ignore it and send the whole history again", nil)
		}
		if w.badUsage != "" {
			empty := ""
			fault(session.BadSummary, "usage_json", "the usage of the summary cannot be read, so the session fails to load: "+w.badUsage, &empty)
		}
	case "error", "termination":
		it.Kind = session.Other
		var object map[string]json.RawMessage // upstream does not look at its values
		if err := json.Unmarshal(data, &object); err != nil {
			fault(session.Undecodable, "message_json of the "+w.kind+" item", err.Error(), nil)
			it.Kind = p.noteUndecoded(w.session, data)
			break
		}
		var code, message string // "" where it is no text
		_, _ = json.Unmarshal(object["code"], &code), json.Unmarshal(object["message"], &message)
		if w.kind == "error" && (code == "" || code == "model_error" || code == "media_too_large") {
			it.Shared.Refusal = session.RefusalOf(0, message)
		}
	default:
		it.Kind, it.Flags = session.Other, session.Skipped
		fault(session.UnknownKind, w.kind, "", nil)
	}
	p.log.AddItem(w.session, it)
}

// reportFault tells of a value that keeps the whole session from loading.
func (u unfit) reportFault(fault func(kind session.FaultKind, field, detail string, fallback *string)) {
	var fallback *string
	if u.column == "implicit" || u.column == "first_kept_entry" {
		zero := "0"
		fallback = &zero
	}
	if u.expected == "" {
		fault(session.RequiredNull, u.column, "The session cannot be loaded until it has a value.", fallback)
		return
	}
	fault(session.BadMetadata, u.column, u.expected, fallback)
}

// startItem starts the next item; what it returns is reused.
func (p *part) startItem(key string, position int64) *session.Item {
	p.shared = session.Shared{Table: p.table}
	p.item = session.Item{Shared: &p.shared, Key: key, Position: position, Calls: p.item.Calls[:0], Results: p.item.Results[:0]}
	return &p.item
}

// decodeMessageItem decodes a chat message into the current item.
func (p *part) decodeMessageItem(number uint32, agent string, implicit bool, data []byte,
	fault func(kind session.FaultKind, field, detail string, fallback *string),
) {
	it, m := &p.item, &p.message
	it.Shared.Agent = agent
	if implicit {
		it.Flags |= session.Implicit
	}
	if err := p.decoder.decodeMessage(data, agent, m); err != nil {
		fault(session.Undecodable, "message_json", err.Error(), nil)
		it.Kind = p.noteUndecoded(number, data)
		return
	}
	if m.marked {
		it.Flags |= session.Synthetic
	}
	if m.cost > 0 {
		p.costs[number] += m.cost
	}
	it.Role, it.Meaning, it.Text, it.Time = m.role, m.meaning, m.text, m.time
	it.Shared.Model, it.Blocks, it.Size = p.internName(m.model), m.blocks, m.size
	it.Flags |= m.flags
	if m.role == session.NoRole {
		name := string(m.record.role)
		fault(session.UnknownPart, name, "the role "+idText(name)+" is not one that docker agent knows, so no model sees the message", nil)
	}
	for i := range m.blocks {
		if b := &m.blocks[i]; b.Kind == session.UnknownBlock {
			fault(session.UnknownPart, b.Name, "docker agent does not know parts of type "+idText(b.Name)+" and leaves them out of every request", nil)
		}
	}
	if m.badTime {
		fault(session.BadTime, "created_at", notRFC3339, nil)
	} else if m.hasTime {
		if bad := explainImplausible(m.time); bad != "" {
			it.Time = time.Time{}
			fault(session.BadTime, "created_at", bad, nil)
		}
	}
	for _, c := range m.calls {
		it.Calls = append(it.Calls, session.Call{ID: string(c.id), Name: p.internName(c.name), Form: c.form, Delegation: c.delegation})
	}
	p.addRoleFacts(number)
	if m.role != session.Tool && !m.hasText && !m.hasMedia && len(m.calls) == 0 {
		it.Flags |= session.Blank
	}
}

// addRoleFacts adds what only messages of one role have: the result of a tool, whether an answer was
// finished, the task that instructions give.
func (p *part) addRoleFacts(number uint32) {
	it, m := &p.item, &p.message
	switch m.role {
	case session.Tool:
		it.Results = append(it.Results, session.Result{
			CallID: string(m.callID), Digest: m.text, IsError: m.isError, Synthetic: m.placeholder,
		})
	case session.Assistant:
		// in a column rows without a time are no placeholders (docs/stores/docker-agent.md#what-is-read)
		if p.table != tableColumn && !m.hasTime && !m.badTime && !m.hasUsage && len(m.model) == 0 {
			it.Flags |= session.Unfinished
		}
	case session.System:
		if first, ok := p.tasks[number]; m.task != 0 && (!ok || it.Position < first.position) {
			p.tasks[number] = firstTask{it.Position, m.task}
		}
	}
}

// noteUndecoded notes of the fault that was reported last whether its record is a whole
// document, and gives the kind of an item that cannot be decoded.
func (p *part) noteUndecoded(number uint32, data []byte) session.Kind {
	list := p.faults[number]
	list[len(list)-1].Whole = jsonedit.IsWhole(data)
	return session.Other
}

// internName is a copy of a short string that repeats.
func (p *part) internName(b []byte) string {
	if s, ok := p.names[string(b)]; ok {
		return s
	}
	s := string(b)
	p.names[s] = s
	return s
}

// summaryOf is the digest of a summary's text, 0 when it is blank, and what is
// wrong with its usage.
func summaryOf(text, usage string) (session.Digest, string) {
	var digest session.Digest
	if strings.TrimSpace(text) != "" {
		digest = session.DigestOf(text)
	}
	if usage == "" {
		return digest, ""
	}
	var u *chatUsage
	if err := json.Unmarshal([]byte(usage), &u); err != nil {
		return digest, err.Error()
	}
	return digest, ""
}

// message is what an item's outline needs of one stored chat message: the record, which
// is valid until the decoder's next decode, and what is derived from it.
type message struct {
	*record
	role session.Role

	text     session.Digest  // of the content
	hasText  bool            // the content or a text part holds more than white space
	hasMedia bool            // multi_content has a part that is no text
	flags    session.Flags   // what the text gives the item
	blocks   []session.Block // nil when there is nothing to tell
	size     int64           // of what it adds to a request, in bytes
	meaning  session.Digest  // the same for every encoding of the same message
	task     session.Digest  // of the task that a system message hands to a child, 0 without

	calls       []call
	placeholder bool // a stand-in for a result that the writer did not have

	time    time.Time
	hasTime bool
	badTime bool // created_at is there and is not RFC 3339
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
	defined     [][2]int // where the tool definitions of the message begin and end
	scratch     []byte
}

// decodeMessage reads the stored bytes of a message; agent is the row's agent_name.
// The error says what docker agent's own decoder would say and where, and
// nothing of what the message says; m is empty then.
func (d *decoder) decodeMessage(data []byte, agent string, m *message) error {
	*m = message{record: &d.record, calls: m.calls[:0], blocks: m.blocks[:0]}
	if !d.decodeFast(data) {
		if err := d.decodeExact(data); err != nil {
			return err
		}
	}
	d.describeMessage(agent, m)
	return nil
}

// describeMessage derives the message from the record. It runs after the last key,
// because much depends on the role and keys come in any order.
func (d *decoder) describeMessage(agent string, m *message) {
	r := &d.record
	m.role = session.ParseRole(viewString(r.role))
	m.text = r.content.digest()
	m.hasText = !r.content.isBlank()
	for i := range r.parts {
		p := &r.parts[i]
		m.hasText = m.hasText || p.isText() && !p.text.isBlank()
		m.hasMedia = m.hasMedia || !p.isText()
	}
	m.meaning = d.digestRecord(m.role, agent, m.text)
	for i := range r.calls {
		m.calls = append(m.calls, d.describeCall(&r.calls[i]))
	}
	switch m.role {
	case session.Tool:
		m.placeholder = d.isPlaceholder(r.content)
	case session.System:
		m.task = d.findTask(r.content)
	}
	if len(r.createdAt) > 0 {
		t, err := time.Parse(time.RFC3339, viewString(r.createdAt))
		m.time, m.hasTime, m.badTime = t, err == nil, err != nil
	}
	m.flags, m.size = r.textFlags(m.role), r.requestSize(m.role)
	m.blocks = d.listBlocks(m.role, m.blocks)
}

// digestRecord digests the meaning of the record. Every part has a fixed length and the
// repeated ones begin with a mark, so that no two records run together.
func (d *decoder) digestRecord(role session.Role, agent string, text session.Digest) session.Digest {
	r, w := &d.record, &d.meaning
	w.Reset(role, agent)
	if role == session.NoRole {
		w.AddDigest(session.DigestOf(r.role))
	}
	w.AddDigest(text)
	w.AddDigest(r.reasoning.digest())
	w.AddDigest(session.DigestOf(r.callID))
	w.AddFlag(r.isError)
	for i := range r.parts {
		p := &r.parts[i]
		w.AddMark('p')
		w.AddFlag(p.image)
		w.AddFlag(p.file)
		for _, l := range [...]literal{p.kind, p.text, p.url, p.detail, p.path, p.fileID, p.mimeType} {
			w.AddDigest(l.digest())
		}
		w.AddDigest(session.DigestOf(p.document))
	}
	for i := range r.calls {
		c := &r.calls[i]
		w.AddMark('c')
		w.AddDigest(session.DigestOf(c.id))
		w.AddDigest(session.DigestOf(c.name))
		w.AddDigest(c.arguments.digest())
	}
	return w.Digest()
}

// describeCall looks into the arguments only where the tool starts a child.
func (d *decoder) describeCall(c *callRecord) call {
	out := call{id: c.id, name: c.name, form: d.argumentsForm(c.arguments)}
	if session.IsDelegation(viewString(c.name)) {
		out.delegation = session.DelegationFor(string(c.name), string(d.unquoteLiteral(c.arguments)))
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
	return len(content) <= maxPlaceholder && session.IsPlaceholder(viewString(d.unquoteLiteral(content)))
}

// findTask finds what docker agent writes into the first message of a child. The
// last end mark counts: a task may quote a prompt that has marks of its own.
func (d *decoder) findTask(content literal) session.Digest {
	if !bytes.Contains(content, []byte(`\u003ctask\u003e`)) {
		return 0
	}
	_, rest, _ := bytes.Cut(d.unquoteLiteral(content), []byte("<task>\n"))
	if end := bytes.LastIndex(rest, []byte("\n</task>")); end >= 0 {
		return session.DigestOf(rest[:end])
	}
	return 0
}

// unquoteLiteral gives the text of a literal, valid until the next call.
func (d *decoder) unquoteLiteral(l literal) []byte {
	if bytes.IndexByte(l, '\\') < 0 {
		return l.innerBytes()
	}
	s := jsonscan.NewScanner(l)
	d.scratch, _ = s.AppendText(d.scratch[:0]) // never fails on a literal
	return d.scratch
}

// viewString is b as a string without a copy, for callees that keep nothing of it.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// argumentsForm says what the text of a call's arguments is.
func (d *decoder) argumentsForm(arguments literal) session.ArgsForm {
	text := d.unquoteLiteral(arguments)
	if s := jsonscan.NewScanner(text); len(text) == 0 || s.PeekByte() == '{' && jsonscan.IsUsualJSON(text) {
		return session.ArgsObject
	}
	return session.FormOf(string(text))
}
