package rules

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// CallSaid is where a provider sees a call: the number of its message, and its
// place among the message's parts or, where calls are a list of their own, in
// that list.
func (s *Subject) CallSaid(profile *Profile, at pairing.Occurrence) Said {
	it := &s.Items[at.Item]
	said := Said{Message: s.WireIndex(profile, at.Item), Block: at.Nth, ID: s.CallAt(at).ID}
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

// CallError makes what a provider answers to a call.
func (p *Pass) CallError(s *Subject, at pairing.Occurrence) func(*Profile) string {
	rule := p.Rule.ID
	return func(profile *Profile) string { return profile.Error(rule, s.CallSaid(profile, at)) }
}

// CallPart and resultPart address one call or result within its record.
func (s *Subject) CallPart(at pairing.Occurrence) session.Ref {
	ref := s.ItemRef(at.Item)
	ref.Pointer = "/calls/" + strconv.Itoa(at.Nth)
	return ref
}

// ResultPart addresses one result of an item that holds more.
func (s *Subject) ResultPart(at pairing.Occurrence) session.Ref {
	ref := s.ItemRef(at.Item)
	ref.Pointer = "/results/" + strconv.Itoa(at.Nth)
	return ref
}

// NameCall and nameResult are the edits that give an id to a call and to what
// answers it.
func (s *Subject) NameCall(at pairing.Occurrence, id string) session.Edit {
	return session.Edit{Op: session.Set, Ref: s.CallPart(at), Field: session.FieldCallID, Value: &id}
}

// NameResult is the edit that lets a result answer the call of an id.
func (s *Subject) NameResult(at pairing.Occurrence, id string) session.Edit {
	return session.Edit{Op: session.Set, Ref: s.ResultPart(at), Field: session.FieldResultID, Value: &id}
}
