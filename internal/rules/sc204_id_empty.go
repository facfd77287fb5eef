package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var idEmpty = Rule{
	ID: "SC204", Name: "id-empty", Severity: Error, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "a call or a result without an id",
	Run: func(p *Pass) {
		for _, s := range p.Voices {
			if s.lacksIDs() {
				reportNameless(p, s)
			}
		}
	},
}

// lacksIDs reports whether a call or a result of the session has no id.
func (s *Subject) lacksIDs() bool {
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			if s.Items[i].Calls[n].ID == "" {
				return true
			}
		}
		for n := range s.Items[i].Results {
			if s.Items[i].Results[n].CallID == "" {
				return true
			}
		}
	}
	return false
}

// reportNameless reports the calls without an id, and the results without one
// whose call has one. A result that answers nothing is SC103.
func reportNameless(p *Pass, s *Subject) {
	results, names := s.resultsByCall(), s.newNames()
	for i := range s.Items {
		if !s.onWire(i) {
			continue
		}
		lonely := s.nameless(i) == 1
		for n := range s.Items[i].Calls {
			at := pairing.Occurrence{Item: i, Nth: n}
			if s.call(at).ID == "" && !s.call(at).Server {
				reportNamelessCall(p, s, at, s.nameFor(at, lonely, results[at], names))
			}
		}
	}
	for _, pair := range s.Pairs.Pairs {
		if id := s.call(pair.Call).ID; id != "" && s.result(pair.Result).CallID == "" {
			f := p.findCall(s, pair.Result, id)
			f.Message = "the result has no id; it is the only one behind call " + callName(s.call(pair.Call)) + s.because(f.Item)
			f.Related = []session.Place{s.At(pair.Call.Item)}
			if !s.history(f.Item) {
				f.Fixes = []Fix{{Title: "give it the id of that call", Safety: Lossless, Edits: []session.Edit{s.nameResult(pair.Result, id)}}}
			}
			p.Report(f)
		}
	}
}

func reportNamelessCall(p *Pass, s *Subject, at pairing.Occurrence, fix Fix) {
	f := p.findCall(s, at, "")
	f.Message = "call " + callName(s.call(at)) + ": a result can answer it by its place only" + s.because(f.Item)
	if !s.history(f.Item) {
		f.Fixes = []Fix{fix}
	}
	p.Report(f)
}

// nameFor is the fix that gives a call an id, if it is the only one of its turn
// without one: that of the only result behind it or, where this has none either,
// a new one for both.
func (s *Subject) nameFor(at pairing.Occurrence, lonely bool, answers []pairing.Occurrence, names *newNames) Fix {
	switch {
	case len(answers) != 1 || !lonely:
		return Fix{Title: "give the call an id, and the result that answers it", Safety: Manual}
	case s.result(answers[0]).CallID != "":
		id := s.result(answers[0]).CallID
		return Fix{Title: "give it the id of the only result behind it", Safety: Lossless, Edits: []session.Edit{s.nameCall(at, id)}}
	}
	id := names.plain(at.Item, at.Nth)
	return Fix{
		Title: "call it " + quoted(id) + ", and so its result", Safety: Lossless,
		Edits: []session.Edit{s.nameCall(at, id), s.nameResult(answers[0], id)},
	}
}

// nameless counts the calls of a turn that have no id.
func (s *Subject) nameless(turn int) int {
	n := 0
	for i := range s.Items[turn].Calls {
		if c := &s.Items[turn].Calls[i]; c.ID == "" && !c.Server {
			n++
		}
	}
	return n
}
