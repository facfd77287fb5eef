package rules

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// callSaid is where a provider sees a call: the number of its message, and its
// place among the message's parts or, where calls are a list of their own, in
// that list.
func (s *Subject) callSaid(profile *Profile, at pairing.Occurrence) Said {
	it := &s.Items[at.Item]
	said := Said{Message: s.wireIndex(profile, at.Item), Block: at.Nth, ID: s.call(at).ID}
	switch profile.Shape {
	case Grouped, Contents:
		said.Block = partOf(it, at.Nth)
	case Flat:
		said.Message += flatPlace(it, at.Nth)
	}
	return said
}

// partOf is the place of a call among the parts of its item.
func partOf(it *session.Item, nth int) int {
	if at := callBlock(it, nth); at >= 0 {
		return at
	}
	if it.Text != 0 && !it.Flags.Has(session.BlankText) {
		return nth + 1
	}
	return nth
}

// callError makes what a provider answers to a call.
func (p *Pass) callError(s *Subject, at pairing.Occurrence) func(*Profile) string {
	rule := p.rule.ID
	return func(profile *Profile) string { return profile.Error(rule, s.callSaid(profile, at)) }
}

// callPart and resultPart address one call or result within its record.
func (s *Subject) callPart(at pairing.Occurrence) session.Ref {
	ref := s.ItemRef(at.Item)
	ref.Pointer = "/calls/" + strconv.Itoa(at.Nth)
	return ref
}

func (s *Subject) resultPart(at pairing.Occurrence) session.Ref {
	ref := s.ItemRef(at.Item)
	ref.Pointer = "/results/" + strconv.Itoa(at.Nth)
	return ref
}

// nameCall and nameResult are the edits that give an id to a call and to what
// answers it.
func (s *Subject) nameCall(at pairing.Occurrence, id string) session.Edit {
	return session.Edit{Op: session.Set, Ref: s.callPart(at), Field: session.FieldCallID, Value: &id}
}

func (s *Subject) nameResult(at pairing.Occurrence, id string) session.Edit {
	return session.Edit{Op: session.Set, Ref: s.resultPart(at), Field: session.FieldResultID, Value: &id}
}
