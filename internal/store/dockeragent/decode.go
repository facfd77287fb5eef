package dockeragent

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/outline"
)

// part is what one decoder collects; by session number where it concerns one.
type part struct {
	table      string // of its items
	decoder    decoder
	message    message
	log        *outline.Log
	tasks      map[uint32]firstTask
	costs      map[uint32]float64 // of the messages and summaries, in dollars
	references map[uint32][]reference
	faults     map[uint32][]session.Fault // Item is found later, by the key
	names      map[string]string
	item       session.Item
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
		p.row(w, b.json[w.from:w.to])
	}
}

// row adds the outline of one row of session_items.
func (p *part) row(w *row, data []byte) {
	it := p.reset(rowKey(w.id), w.position)
	ref := session.Ref{Table: tableItems, Key: it.Key}
	fault := func(kind session.FaultKind, field, detail string, fallback *string) {
		p.faults[w.session] = append(p.faults[w.session], session.Fault{Kind: kind, Ref: ref, Field: field, Detail: detail, Default: fallback})
	}
	for _, u := range w.unfit {
		u.report(fault)
	}
	switch w.kind {
	case "message":
		p.messageItem(w.session, w.agent, w.implicit, data, fault)
	case "subsession":
		it.Kind, it.Child = session.SubSession, w.child
		p.references[w.session] = append(p.references[w.session], reference{w.position, w.id, w.child})
	case "summary":
		it.Kind, it.Text, it.KeptFrom = session.Summary, w.summary, w.keptFrom
		if w.cost > 0 {
			p.costs[w.session] += w.cost
		}
		if w.summary == 0 {
			fault(session.BadSummary, "summary_text", "the summary has no text: readers ignore it and send the whole history again", nil)
		}
		if w.badUsage != "" {
			empty := ""
			fault(session.BadSummary, "usage_json", "the usage of the summary does not parse, so that the session fails to load: "+w.badUsage, &empty)
		}
	case "error", "termination":
		it.Kind = session.Other
		if err := validObject(data); err != nil {
			fault(session.Undecodable, "message_json of the "+w.kind+" item", err.Error(), nil)
			it.Kind = p.undecoded(w.session, data)
		}
	default:
		it.Kind, it.Flags = session.Other, session.Skipped
		fault(session.UnknownKind, w.kind, "", nil)
	}
	p.log.Add(w.session, it)
}

// report tells of a value that keeps the whole session from loading.
func (u unfit) report(fault func(kind session.FaultKind, field, detail string, fallback *string)) {
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

// reset starts the next item; what it returns is reused.
func (p *part) reset(key string, position int64) *session.Item {
	p.item = session.Item{Table: p.table, Key: key, Position: position, Calls: p.item.Calls[:0], Results: p.item.Results[:0]}
	return &p.item
}

// messageItem decodes a chat message into the current item.
func (p *part) messageItem(number uint32, agent string, implicit bool, data []byte,
	fault func(kind session.FaultKind, field, detail string, fallback *string),
) {
	it, m := &p.item, &p.message
	it.Agent = agent
	if implicit {
		it.Flags |= session.Implicit
	}
	if err := p.decoder.decode(data, agent, m); err != nil {
		fault(session.Undecodable, "message_json", err.Error(), nil)
		it.Kind = p.undecoded(number, data)
		return
	}
	if m.synthetic {
		it.Flags |= session.Synthetic
	}
	if m.cost > 0 {
		p.costs[number] += m.cost
	}
	it.Role, it.Meaning, it.Text, it.Time = m.role, m.meaning, m.text, m.createdAt
	it.Model, it.Blocks, it.Size = p.name(m.model), m.blocks, m.size
	it.Flags |= m.flags
	if m.role == session.NoRole {
		fault(session.UnknownPart, string(m.roleName), "the role "+idText(string(m.roleName))+" is none that docker agent knows, so no model sees what the message says", nil)
	}
	for i := range m.blocks {
		if b := &m.blocks[i]; b.Kind == session.UnknownBlock {
			fault(session.UnknownPart, b.Name, "docker agent knows no part of the type "+idText(b.Name)+" and leaves it out of every request", nil)
		}
	}
	if m.badTime {
		fault(session.BadTime, "created_at", notRFC3339, nil)
	} else if m.hasTime {
		if bad := implausible(m.createdAt); bad != "" {
			it.Time = time.Time{}
			fault(session.BadTime, "created_at", bad, nil)
		}
	}
	for _, c := range m.calls {
		it.Calls = append(it.Calls, session.Call{ID: string(c.id), Name: p.name(c.name), Form: c.form, Delegation: c.delegation})
	}
	switch m.role {
	case session.Tool:
		it.Results = append(it.Results, session.Result{
			CallID: string(m.callID), Digest: m.text, IsError: m.isError, Synthetic: m.placeholder,
		})
	case session.Assistant:
		// in a column rows without a time are no placeholders (2.3)
		if p.table != tableColumn && !m.hasTime && !m.badTime && !m.hasUsage && len(m.model) == 0 {
			it.Flags |= session.Unfinished
		}
	case session.System:
		if first, ok := p.tasks[number]; m.task != 0 && (!ok || it.Position < first.position) {
			p.tasks[number] = firstTask{it.Position, m.task}
		}
	}
	if m.role != session.Tool && !m.hasText && !m.hasMedia && len(m.calls) == 0 {
		it.Flags |= session.Blank
	}
}

// undecoded notes of the fault that was reported last whether its record is a whole
// document, and gives the kind of an item that cannot be decoded.
func (p *part) undecoded(number uint32, data []byte) session.Kind {
	list := p.faults[number]
	list[len(list)-1].Whole = jsonedit.Whole(data)
	return session.Other
}

// name is a copy of a short string that repeats.
func (p *part) name(b []byte) string {
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

// validObject reports what upstream's decoder would say to the JSON of an error
// or termination item: it has to be an object, its values are not looked at.
func validObject(data []byte) error {
	var object map[string]json.RawMessage
	return json.Unmarshal(data, &object)
}
