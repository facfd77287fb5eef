package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var orphanResult = rules.Rule{
	ID: "SC103", Name: "orphan-result", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a result for a call that does not exist",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		if len(s.Pairs.Orphans) == 0 {
			return
		}
		about := orphansOf(s)
		for _, at := range s.Pairs.Orphans {
			if !about.explained[s.ResultAt(at).CallID] {
				reportOrphan(p, s, at, about)
			}
		}
	}),
}

func reportOrphan(p *rules.Pass, s *rules.Subject, at pairing.Occurrence, about *aboutOrphans) {
	f := p.FindCall(s, at, s.ResultAt(at).CallID)
	f.Message = "the result names call " + rules.QuoteText(s.ResultAt(at).CallID) + ", which this session does not have"
	switch id := s.ResultAt(at).CallID; {
	case about.made[id]:
		f.Message = "the result of call " + rules.QuoteText(id) + " comes before several calls with that id. sessctl cannot tell which of them it answers."
	case about.unsent[id]:
		f.Message = "the result names call " + rules.QuoteText(id) + ", which is not part of any request"
	}
	if about.cutOff[at.Item] {
		f.AddSentence("The unfinished message before it probably lost its calls")
	}
	fix := s.QuarantineResult(at, "remove the result; the receipt keeps it")
	fix = orOwner(s, &f, at, fix)
	if about.unnamed[at.Item] {
		f.AddSentence("A call before it has no id and may be the one")
		fix = rules.Fix{Title: "decide whether the result answers that call", Safety: rules.Manual}
	}
	if s.Strayed[f.Call] {
		f.Message = "the result names call " + rules.QuoteText(f.Call) + ", which is of another agent or branch that does not see it"
		fix = rules.Fix{Title: "decide which call the result belongs to", Safety: rules.Manual}
		if shows, ok := s.ShowHalf("put the call on this branch, too", func(it *session.Item) bool { return it.MakesCall(f.Call) }); ok {
			fix = shows
		}
	}
	if s.LeavesOut(at.Item) && s.StopReason() == "" && fix.Safety != rules.Manual {
		f.Severity = rules.Warning
		f.AddSentence(p.Store.Title + " leaves it out of its requests, so the model does not see it")
		if at.Item < len(s.Items)-1 { // to take it away would change nothing
			p.Report(f)
			return
		}
		f.AddSentence("Without a new message after it, " + p.Store.Title + " stops with an error about it")
	}
	p.ReportCall(s, f, fix)
}

// aboutOrphans is what the calls of a session say about results without one,
// gathered once for all of them.
type aboutOrphans struct {
	made   map[string]bool // ids of calls that requests hold
	unsent map[string]bool // ids of others
	// explained are the ids of calls that are part of a leak: of messages that
	// leaked from this session into its caller's, and of those of which nobody can
	// tell whose they are, which stay where they are with their results.
	explained map[string]bool
	cutOff    []bool       // by item: the message before its results was never finished
	unnamed   map[int]bool // items in the answer group of a turn with an unanswered call without an id
}

func orphansOf(s *rules.Subject) *aboutOrphans {
	about := &aboutOrphans{
		made: map[string]bool{}, unsent: map[string]bool{}, explained: map[string]bool{}, unnamed: map[int]bool{}, cutOff: make([]bool, len(s.Items)),
	}
	unfinished := false
	for i := range s.Items {
		it := &s.Items[i]
		about.cutOff[i] = unfinished
		if it.OnWire() && !it.IsAnswer() {
			unfinished = it.Flags.Has(session.Unfinished)
		}
		ids := about.unsent
		if it.OnWire() {
			ids = about.made
		}
		rules.AddIDs(ids, it)
	}
	about.explainLeaked(s)
	turn := -1
	for _, m := range s.Pairs.Missing {
		if s.CallAt(m.Call).ID != "" || m.Call.Item == turn {
			continue
		}
		turn = m.Call.Item
		last := s.AnswerPlace(m.Call)
		for i := turn + 1; i <= last; i++ {
			about.unnamed[i] = true
		}
	}
	return about
}

// explainLeaked gathers the calls that are part of a leak.
func (about *aboutOrphans) explainLeaked(s *rules.Subject) {
	if s.Caller != nil {
		for _, l := range s.Caller.Leaked {
			rules.AddIDs(about.explained, &s.Caller.Session.Items[l.Item])
		}
	}
	seen := map[int]bool{}
	for _, d := range s.Replay.Delegations {
		for _, l := range d.Leaked {
			if !seen[l.Item] && l.Undecidable {
				rules.AddIDs(about.explained, &s.Items[l.Item])
			}
			seen[l.Item] = true
		}
	}
}
