package pairs

import (
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"slices"
)

var idEmpty = rules.Rule{
	ID: "SC204", Name: "id-empty", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call or a result without an id",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		if lacksIDs(s) {
			reportNameless(p, s)
		}
	}),
}

// lacksIDs reports whether a call or a result of the session has no id.
func lacksIDs(s *rules.Subject) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool {
		return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.ID == "" }) ||
			slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.CallID == "" })
	})
}

// reportNameless reports the calls without an id, and the results without one
// whose call has one. A result that answers nothing is SC103.
func reportNameless(p *rules.Pass, s *rules.Subject) {
	results, names := resultsByCall(s), newNamesOf(s)
	for i := range s.Items {
		if !s.OnWire(i) {
			continue
		}
		lonely := countNameless(s, i) == 1
		for n := range s.Items[i].Calls {
			at := pairing.Occurrence{Item: i, Nth: n}
			if s.CallAt(at).ID == "" && !s.CallAt(at).Server {
				reportNamelessCall(p, s, at, nameFor(s, at, lonely, results[at], names))
			}
		}
	}
	for _, pair := range s.Pairs.Pairs {
		if id := s.CallAt(pair.Call).ID; id != "" && s.ResultAt(pair.Result).CallID == "" {
			f := p.FindCall(s, pair.Result, id)
			f.Message = "the result of call " + rules.CallName(s.CallAt(pair.Call)) + " has no id. It is the only result after that call."
			f.AddSentence(s.HistoryReason(f.Item))
			f.Related = []session.Place{s.ItemPlace(pair.Call.Item)}
			if !s.IsHistory(f.Item) {
				f.SetFix(rules.Lossless, "give the result the id of that call", s.NameResult(pair.Result, id))
			}
			p.Report(f)
		}
	}
}

func reportNamelessCall(p *rules.Pass, s *rules.Subject, at pairing.Occurrence, fix rules.Fix) {
	f := p.FindCall(s, at, "")
	f.Message = "call " + rules.CallName(s.CallAt(at)) + " can be matched to its result by position only"
	f.AddSentence(s.HistoryReason(f.Item))
	if !s.IsHistory(f.Item) {
		f.Fixes = []rules.Fix{fix}
	}
	p.Report(f)
}

// nameFor is the fix that gives a call an id, if it is the only one of its turn
// without one: that of the only result behind it or, where this has none either,
// a new one for both.
func nameFor(s *rules.Subject, at pairing.Occurrence, lonely bool, answers []pairing.Occurrence, names *newNames) rules.Fix {
	switch {
	case len(answers) != 1 || !lonely:
		return rules.Fix{Title: "give the call and the result that answers it an id", Safety: rules.Manual}
	case s.ResultAt(answers[0]).CallID != "":
		id := s.ResultAt(answers[0]).CallID
		return rules.Fix{Title: "give the call the id of the only result after it", Safety: rules.Lossless, Edits: []session.Edit{s.NameCall(at, id)}}
	}
	id := names.plainID(at.Item, at.Nth)
	return rules.NewFix(rules.Lossless, "give the call and its result the id "+rules.QuoteText(id), s.NameCall(at, id), s.NameResult(answers[0], id))
}

// countNameless counts the calls of a turn that have no id.
func countNameless(s *rules.Subject, turn int) int {
	return lists.CountIf(s.Items[turn].Calls, func(c session.Call) bool { return c.ID == "" && !c.Server })
}
