package view

import (
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// builder makes the sessions of one view; each is drawn once, so that no loop
// of references can trap it.
type builder struct {
	in       Input
	pass     *rules.Pass
	trace    *replay.Trace
	subjects map[*session.Session]*rules.Subject
	voices   map[*session.Session]*rules.Subject // whose request is the next one
	byID     map[string]*session.Session
	drawn    map[string]bool
	notes    map[session.Place][]Note
}

func newBuilder(in Input) *builder {
	pass := rules.NewPass(in.Store, in.Tree, in.Judge, nil)
	b := &builder{
		in: in, pass: pass, trace: pass.Trace,
		subjects: map[*session.Session]*rules.Subject{},
		voices:   map[*session.Session]*rules.Subject{},
		byID:     map[string]*session.Session{},
		drawn:    map[string]bool{},
		notes:    map[session.Place][]Note{},
	}
	for _, s := range pass.Subjects {
		b.subjects[s.Session], b.voices[s.Session] = s, pass.Voice(s.Session)
		if b.byID[s.ID] == nil {
			b.byID[s.ID] = s.Session
		}
	}
	b.noteFindings()
	return b
}

// session makes a session with everything below it.
func (b *builder) session(s *session.Session) *Session {
	b.drawn[s.ID] = true
	out := &Session{Session: s, Agent: replay.FirstAgent(s), Notes: b.notes[s.At(-1)]}
	subject := b.subjects[s]
	answers := answersOf(subject)
	started := startedBy(subject.Replay)
	for i := range s.Items {
		row := b.row(subject, answers, i)
		if row.Stored.Kind == session.SubSession {
			b.reference(&row)
		}
		out.Rows = append(out.Rows, row)
		out.Rows = append(out.Rows, b.unreferenced(started[i])...)
	}
	out.Rows = append(out.Rows, b.unreferenced(s.Children)...)
	out.finish()
	return out
}

// finish fills in what can be told when all rows are there.
func (s *Session) finish() {
	folded := map[int]bool{}
	for i := range s.Rows {
		folded[s.Rows[i].Item] = s.Rows[i].Folded
		if c := s.Rows[i].Child; c != nil {
			s.Below += 1 + c.Below
		}
	}
	for i := range s.Rows {
		for n := range s.Rows[i].Calls {
			a := &s.Rows[i].Calls[n].Answer
			a.Folded = a.Item >= 0 && folded[a.Item]
		}
	}
}

// reference draws the sub-session that the row refers to, or says why it does
// not.
func (b *builder) reference(row *Row) {
	id := row.Stored.Child
	child := b.byID[id]
	switch {
	case id == "":
		row.Label = "a sub-session that was deleted"
	case child == nil:
		row.Label = "sub-session " + rules.Short(id) + ", which does not exist"
	case b.drawn[id]:
		row.Label = "sub-session " + rules.Short(id) + ", shown above"
	default:
		row.Child = b.session(child)
	}
}

// startedBy lists, by the item that made the call, the sub-sessions of a session
// that the replay links to a call although no item refers to them.
func startedBy(s *replay.Session) map[int][]*session.Session {
	below := map[*session.Session]bool{}
	for _, c := range s.Session.Children {
		below[c] = true
	}
	list := map[int][]*session.Session{}
	for _, d := range s.Delegations {
		if below[d.Child] && d.Reference < 0 {
			list[d.Item] = append(list[d.Item], d.Child)
		}
	}
	return list
}

// unreferenced draws sub-sessions that no item refers to.
func (b *builder) unreferenced(children []*session.Session) []Row {
	var rows []Row
	for _, c := range children {
		if !b.drawn[c.ID] {
			rows = append(rows, Row{Item: -1, Child: b.session(c), Named: b.named(c)})
		}
	}
	return rows
}

// named reports whether a call or its result names a session.
func (b *builder) named(c *session.Session) bool {
	caller := b.trace.Callers[c]
	return caller != nil && caller.Call().Delegation.Child == c.ID
}
