package loom

import (
	"bytes"
	"path"

	"github.com/sessctl/sessctl/internal/session"
)

// The tables of items. A step is two items, its call and its result; an event is one
// with each of the two agents that it is about.
const (
	tableSteps        = "steps"        // key: agent/step_001.json
	tableObservations = "observations" // key: as the step's
	tableGoals        = "goals"        // with the child; key: file:line
	tableSpawns       = "spawns"       // with the parent, where no step tells of the spawn
	tableAnswers      = "answers"      // with the child
	tableResults      = "results"      // with the parent
)

// keyOf is the key of the items of a step.
func keyOf(a agent, file stepFile) string { return path.Join(a.id, shown(file.name)) }

// stepItem is the call of a step.
func stepItem(agent string, s *step, raw []byte) session.Item {
	args := s.args()
	it := session.Item{
		Table: tableSteps, Role: session.Assistant, Agent: agent, Size: int64(len(args)),
		Calls: []session.Call{{ID: s.ID, Name: s.Tool, Args: args, Form: session.FormOf(args)}},
		Body:  &session.Body{Raw: raw},
	}
	it.Time, _ = instant(s.Time)
	meaning(&it)
	return it
}

// observationItem is the result of a step.
func observationItem(agent string, s *step) session.Item {
	it := resultItem(tableObservations, agent, s.ID, s.answer(), s.failed())
	it.Results[0].Name = s.Tool
	it.Time, _ = instant(s.Time)
	meaning(&it)
	return it
}

// resultItem is a result of a call.
func resultItem(table, agent, call, text string, failed bool) session.Item {
	it := session.Item{
		Table: table, Role: session.Tool, Agent: agent, Size: int64(len(text)),
		Results: []session.Result{{
			CallID: call, Text: text, Digest: session.DigestOf(text), IsError: failed, Synthetic: session.IsPlaceholder(text),
		}},
		Body: &session.Body{},
	}
	it.Text = it.Results[0].Digest
	return it
}

// textItem is a message that an event tells of: the goal of a child, or its answer.
func textItem(table string, role session.Role, agent, text string) session.Item {
	it := session.Item{
		Table: table, Role: role, Agent: agent, Text: session.DigestOf(text), Size: int64(len(text)),
		Flags: session.TextFlags(text), Body: &session.Body{Text: text},
	}
	if text == "" || it.Flags.Has(session.BlankText) {
		it.Flags |= session.Blank
	}
	meaning(&it)
	return it
}

// eventItem is what an event says to or of an agent.
func eventItem(table, agent string, ev *event, text string, raw []byte) session.Item {
	var it session.Item
	switch table {
	case tableGoals:
		it = textItem(table, session.User, "", text)
	case tableAnswers:
		it = textItem(table, session.Assistant, agent, text)
	case tableSpawns:
		it = stepItem(agent, &step{ID: ev.callID(), Tool: spawnTool, Args: ev.args(text)}, nil)
		it.Table = table
	case tableResults:
		it = resultItem(table, agent, ev.callID(), text, ev.failed)
		it.Results[0].Child, it.Results[0].Correlation = ev.child, ev.correlation
		it.Results[0].Name = spawnTool
		meaning(&it)
	}
	it.Time, it.Body.Raw = ev.time, raw
	return it
}

// otherItem is a record of a history that is no step.
func otherItem(raw []byte) session.Item {
	it := session.Item{Table: tableSteps, Kind: session.Other, Body: &session.Body{Raw: raw}}
	meaning(&it)
	return it
}

// meaning sets the digest of what an item with its body says.
func meaning(it *session.Item) {
	var m session.Meaning
	m.Reset(it.Role, it.Agent)
	m.Mark(byte(it.Kind))
	if it.Kind == session.Other {
		m.Add(session.DigestOf(it.Body.Raw))
	}
	m.Add(session.DigestOf(it.Body.Text))
	m.Mark('c')
	for i := range it.Calls {
		c := &it.Calls[i]
		m.Add(session.DigestOf(c.ID))
		m.Add(session.DigestOf(c.Name))
		m.Add(session.DigestOf(c.Args))
	}
	m.Mark('r')
	for i := range it.Results {
		r := &it.Results[i]
		m.Add(session.DigestOf(r.CallID))
		m.Add(r.Digest)
		m.Mark(map[bool]byte{true: 1}[r.IsError])
	}
	it.Meaning = m.Digest()
}

// forget takes the texts away that an outline does not have.
func forget(it *session.Item) {
	it.Body = nil
	for i := range it.Calls {
		it.Calls[i].Args = ""
	}
	for i := range it.Results {
		it.Results[i].Text = ""
	}
}

// fill reads the texts of an item again. A record that was changed or taken away
// meanwhile leaves them empty.
func (l *loom) fill(agent string, it *session.Item) {
	it.Body = &session.Body{}
	switch it.Table {
	case tableSteps, tableObservations:
		raw, err := l.read(l.stepPath(agent, it.Key))
		if err != nil {
			return
		}
		if it.Table == tableSteps {
			it.Body.Raw = bytes.Clone(raw)
		}
		if s, usable, _ := decodeStep(raw); usable {
			fillFrom(it, s.args(), s.answer())
		}
	default:
		ev := l.events[it.Key]
		text, raw, err := l.textOf(ev)
		if err != nil {
			return
		}
		full := eventItem(it.Table, agent, ev, text, raw)
		it.Body = full.Body
		fillFrom(it, compact(ev.args(text)), text)
	}
}

func fillFrom(it *session.Item, args, answer string) {
	for i := range it.Calls {
		it.Calls[i].Args = args
	}
	for i := range it.Results {
		it.Results[i].Text = answer
	}
}

// stepPath is the file of a key.
func (l *loom) stepPath(agent, key string) string {
	return path.Join(l.byID[agent].dir, historyFolder, path.Base(key))
}
