package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var orphanResult = Rule{
	ID: "SC103", Name: "orphan-result", Severity: Error, Safety: Kept, Scope: PerTree, Since: "0.1.0",
	Title: "a result for a call that does not exist",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			for _, at := range s.Pairs.Orphans {
				if id := s.result(at).CallID; !s.callLeaked(id) && !s.callUndecided(id) {
					reportOrphan(p, s, at)
				}
			}
		}
	},
}

func reportOrphan(p *Pass, s *Subject, at pairing.Occurrence) {
	f := p.findCall(s, at, s.result(at).CallID)
	f.Message = "the result names call " + quoted(s.result(at).CallID) + ", which this session does not have"
	if s.calls(s.result(at).CallID) {
		f.Message = "the result stands before several calls with its id " + quoted(s.result(at).CallID) + ": whose it is cannot be told"
	}
	if s.afterUnfinished(at.Item) {
		f.Message += "; the unfinished message before it probably lost its calls"
	}
	fix := s.quarantine(at, "take the result out of the session; it stays in the receipt")
	if s.besideUnnamedCall(at) {
		f.Message += "; a call in front of it has no id and may be the one"
		fix = Fix{Title: "decide whether it answers that call", Safety: Manual}
	}
	p.reportCall(s, f, fix)
}

// calls reports whether some item of the session makes a call with the id.
func (s *Subject) calls(id string) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool {
		return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.ID == id })
	})
}

// callLeaked reports whether the call is one of the messages that leaked from
// this session into its caller's: then the leak's finding says so.
func (s *Subject) callLeaked(id string) bool {
	if s.caller == nil {
		return false
	}
	return slices.ContainsFunc(s.caller.Leaked, func(l replay.Leaked) bool {
		return slices.ContainsFunc(s.caller.Session.Items[l.Item].Calls, func(c session.Call) bool { return c.ID == id })
	})
}

// callUndecided reports whether the call is one of a message of which nobody can
// tell whose it is: that stays where it is, and so do its results.
func (s *Subject) callUndecided(id string) bool {
	for i := range s.Items {
		if s.undecidable(i) && slices.ContainsFunc(s.Items[i].Calls, func(c session.Call) bool { return c.ID == id }) {
			return true
		}
	}
	return false
}

// besideUnnamedCall reports whether the result stands in the answer group of a
// turn that has an unanswered call without an id.
func (s *Subject) besideUnnamedCall(at pairing.Occurrence) bool {
	return slices.ContainsFunc(s.Pairs.Missing, func(m pairing.Missing) bool {
		return s.call(m.Call).ID == "" && m.Call.Item < at.Item && s.answerPlace(m.Call) >= at.Item
	})
}
