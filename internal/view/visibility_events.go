package view

import (
	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// survey lists the events of a session and of those below it, in reading order.
type survey struct {
	*builder
	shown  *session.Session
	events []Event
}

func newSurvey(b *builder, shown *session.Session) *survey {
	s := &survey{builder: b, shown: shown}
	b.byID = map[string]*session.Session{}
	started := map[*session.Session]map[int][]*session.Session{}
	depths := map[*session.Session]func(i int) int{}
	for _, rs := range b.trace.Sessions {
		if b.byID[rs.Session.ID] == nil {
			b.byID[rs.Session.ID] = rs.Session
		}
		started[rs.Session] = startedBy(rs)
		depths[rs.Session] = func(i int) int { return rs.Steps[i].Depth }
	}
	var add func(s *session.Session)
	below := func(list []*session.Session) {
		for _, child := range list {
			if !b.drawn[child.ID] {
				add(child)
			}
		}
	}
	add = func(of *session.Session) {
		b.drawn[of.ID] = true
		kept := keptIn(of)
		for i := range of.Items {
			e := Event{Session: of, Item: i, Depth: depths[of](i), kept: kept(i)}
			if notes := b.notes[of.At(i)]; len(notes) > 0 {
				e.Rules = rulesOf(notes)
			}
			s.events = append(s.events, e)
			if child := b.byID[of.Items[i].Child]; child != nil && of.Items[i].Kind == session.SubSession {
				below([]*session.Session{child})
			}
			below(started[of][i])
		}
		below(of.Children)
	}
	add(shown)
	return s
}

// keptIn says why the reader passes over an item of a session, whoever asks.
func keptIn(s *session.Session) func(i int) branch.Reason {
	start, last := s.Start(), s.LastSummary()
	for i := range s.Items {
		if s.Items[i].Flags.Has(session.Compacted) {
			start = 0 // what is covered says so itself, and there may be several summaries
			break
		}
	}
	return func(i int) branch.Reason {
		it := &s.Items[i]
		switch {
		case it.Flags.Has(session.Archived):
			return branch.Archived
		case it.Flags.Has(session.Rewound):
			return branch.Rewound
		case it.Flags.Has(session.Compacted):
			return branch.Compacted
		case it.Kind == session.Summary && it.Text != 0 && !it.Flags.Has(session.Skipped):
			if i < last && start > 0 {
				return branch.Compacted
			}
			return branch.None
		case !it.OnWire():
			return branch.HiddenKind
		case i < start:
			return branch.Compacted
		}
		return branch.None
	}
}

// Stored is the item itself.
func (e *Event) Stored() *session.Item { return &e.Session.Items[e.Item] }

// Key is the record as findings name it.
func (e *Event) Key() string { return e.Session.ItemRef(e.Item).Row() }

// Who is the speaker: user, system, the agent, or what the item is.
func (e *Event) Who() string {
	it := e.Stored()
	if it.Kind != session.Message {
		return map[session.Kind]string{session.SubSession: "sub-session", session.Summary: "summary", session.Other: "record"}[it.Kind]
	}
	return who(it)
}

// asked is the event as a model is asked about it.
func (e *Event) asked() branch.Event {
	asked := rules.EventOf(e.Session, e.Item)
	asked.Kept = e.kept
	return asked
}

// spoken reports whether an agent produced the event itself, in its own session.
func (e *Event) spoken() bool {
	it := e.Stored()
	return it.Kind == session.Message && e.Depth == 0 &&
		(it.Role == session.Assistant || it.Role == session.Tool && it.Agent != "")
}

// Text is what the event says, stored and whole: its text, else the texts of its
// results.
func (e *Event) Text() string {
	it := e.Stored()
	text := textOf(it)
	if it.Kind == session.Other {
		_, text = otherLabel(e.Session, e.Item)
	}
	for i := range it.Results {
		if r := it.Results[i].Text; text == "" {
			text = r
		} else if r != "" {
			text += "\n" + r
		}
	}
	return text
}

// About is what the event says or, where it says nothing, does. It may hold
// stored text.
func (e *Event) About() string {
	if text := e.Text(); text != "" {
		return text
	}
	it := e.Stored()
	switch {
	case it.Kind == session.Summary:
		return summaryLabel(e.Session, e.Item, 0)
	case it.Kind == session.Other:
		label, _ := otherLabel(e.Session, e.Item)
		return label
	case it.Kind == session.SubSession:
		return "sub-session " + rules.Short(it.Child)
	case len(it.Calls) == 1:
		c := callOf(&it.Calls[0])
		return c.Label() + " " + c.About
	case len(it.Calls) > 1:
		return ui.Count(len(it.Calls), "call")
	}
	return ""
}
