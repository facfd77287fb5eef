package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// reuse is a call with an id that an earlier call has.
type reuse struct {
	at, first pairing.Occurrence // first keeps the id
	sameTurn  bool               // an earlier call of the same turn has it too
	name      string             // the id that a repair gives it, "" when whose results are whose cannot be told
	results   []pairing.Occurrence
}

// reuses lists the calls with an id that was used before, in order. An id that
// only history has used is free again; calls without an id have none to share.
func (s *Subject) reuses() []reuse {
	var list []reuse
	first := map[string]pairing.Occurrence{}
	for i := range s.Items {
		if !s.onWire(i) {
			continue
		}
		turn := map[string]bool{}
		for n := range s.Items[i].Calls {
			c, at := &s.Items[i].Calls[n], pairing.Occurrence{Item: i, Nth: n}
			if c.ID == "" || c.Server {
				continue
			}
			known, used := first[c.ID]
			if used && (s.history(i) || !s.history(known.Item)) {
				list = append(list, reuse{at: at, first: known, sameTurn: turn[c.ID]})
			} else {
				first[c.ID] = at
			}
			turn[c.ID] = true
		}
	}
	s.renameReuses(list)
	return list
}

// renameReuses chooses the new ids, the same whichever rule asks.
func (s *Subject) renameReuses(list []reuse) {
	if len(list) == 0 {
		return
	}
	results, names := s.resultsByCall(), s.newNames()
	for n := range list {
		u := &list[n]
		if u.results = results[u.at]; !s.history(u.at.Item) && s.told(u.at, results) {
			u.name = names.repeated(s.call(u.at).ID)
		}
	}
}

// told reports whether it can be told which result answers the call: it can by
// their order, unless other calls of the turn share the id and one has no result
// or one of another tool.
func (s *Subject) told(at pairing.Occurrence, results map[pairing.Occurrence][]pairing.Occurrence) bool {
	calls := s.Items[at.Item].Calls
	sharing, unanswered, foreign, tools := 0, 0, 0, map[string]bool{}
	for n := range calls {
		if calls[n].ID != s.call(at).ID || calls[n].Server {
			continue
		}
		sharing++
		tools[calls[n].Name] = true
		answers := results[pairing.Occurrence{Item: at.Item, Nth: n}]
		if len(answers) == 0 {
			unanswered++
		} else if name := s.result(answers[0]).Name; name != "" && name != calls[n].Name {
			foreign++
		}
	}
	return sharing == 1 || foreign == 0 && (unanswered == 0 || len(tools) == 1)
}

// rename is the fix that gives a call its own id, and the results that are its.
func (s *Subject) rename(u reuse) Fix {
	if u.name == "" {
		return Fix{Title: "decide which result answers which call: they share an id", Safety: Manual}
	}
	fix := Fix{Title: "call it " + quoted(u.name), Safety: Lossless, Edits: []session.Edit{s.nameCall(u.at, u.name)}}
	for _, at := range u.results {
		fix.Edits = append(fix.Edits, s.nameResult(at, u.name))
	}
	if len(u.results) > 0 {
		fix.Title += ", and so its result"
	}
	return fix
}

// reportReuses reports the calls whose id is used before, in the same turn or in
// an earlier one.
func reportReuses(p *Pass, sameTurn bool, message string) {
	for _, s := range p.Subjects {
		for _, u := range s.reuses() {
			if u.sameTurn != sameTurn {
				continue
			}
			f := p.findCall(s, u.at, s.call(u.at).ID)
			f.Message = "call " + callName(s.call(u.at)) + message + s.because(u.at.Item)
			f.Related = []Place{{Session: s.ID, Item: u.first.Item}}
			if !s.history(u.at.Item) {
				f.Fixes, f.failing = []Fix{s.rename(u)}, p.callError(s, u.at)
			}
			p.Report(f)
		}
	}
}
