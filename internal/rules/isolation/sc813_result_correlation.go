package isolation

import (
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var resultCorrelation = rules.Rule{
	ID: "SC813", Name: "result-correlation", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Since: "0.1.0",
	Title: "a result belongs to another delegation, or came after the time limit",
	Run: func(p *rules.Pass) {
		timed := recordsTimeouts(p)
		for _, s := range p.Subjects {
			for _, d := range s.Replay.Delegations {
				at := delegation.Spawn{Delegation: d, From: s}
				if r := at.Outcome(); r != nil {
					reportCorrelation(p, &at, r)
					if timed {
						reportLate(p, &at, r)
					}
				}
			}
		}
	},
}

// timeResolution is how exact the times of items are at worst (docker agent: seconds).
const timeResolution = time.Second

// recordsTimeouts reports whether a delegation of the tree says how much time its
// child has: then its runtime keeps to such times.
func recordsTimeouts(p *rules.Pass) bool {
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			if d.Call().Delegation.Timeout > 0 {
				return true
			}
		}
	}
	return false
}

// reportCorrelation compares what both sides record; what one of them lacks tells
// nothing.
func reportCorrelation(p *rules.Pass, s *delegation.Spawn, r *session.Result) {
	d := s.Call().Delegation
	var wrong string
	switch {
	case d.Correlation != "" && r.Correlation != "" && d.Correlation != r.Correlation:
		wrong = "has the correlation " + rules.QuoteText(r.Correlation) + ", but the call has " + rules.QuoteText(d.Correlation)
	case d.Child != "" && r.Child != "" && d.Child != r.Child:
		wrong = "names session " + rules.ShortID(r.Child) + ", but the call started " + rules.ShortID(d.Child)
	default:
		return
	}
	p.Report(findResult(p, s, wrong+". It may belong to another delegation."))
}

// reportLate looks at the time between call and result. That a child failed may be
// told when its time is over.
func reportLate(p *rules.Pass, s *delegation.Spawn, r *session.Result) {
	d := s.Call().Delegation
	given, limit := d.Timeout, "The call gave it "
	if given == 0 {
		given, limit = p.Isolation().Timeout, "The limit (isolation: timeout in .sessctl.yaml) is "
	}
	took, known := callDuration(s)
	if r.IsError || r.Synthetic || given == 0 || !known || took <= given+timeResolution {
		return
	}
	f := findResult(p, s, "came too late, after "+formatSeconds(took))
	f.Nth = 1
	f.AddSentence(limit + formatSeconds(given))
	p.Report(f)
}

// callDuration is the time from call to result, where the store has both. How long a person
// took to approve is not the child's time.
func callDuration(s *delegation.Spawn) (time.Duration, bool) {
	if s.Final < 0 || hasWaited(s) {
		return 0, false
	}
	called, answered := s.From.Items[s.Item].Time, s.From.Items[s.Final].Time
	return answered.Sub(called), !called.IsZero() && !answered.IsZero()
}

// hasWaited reports whether the child waited for a person: the first result says so, or the
// question to the person does, where no such result is stored.
func hasWaited(s *delegation.Spawn) bool {
	return s.Result >= 0 && slices.ContainsFunc(s.From.Items[s.Result].Results, func(r session.Result) bool {
		return r.CallID == s.Call().ID && r.Pending
	}) || hasQuestion(s)
}

// hasQuestion reports whether a person was asked about the child's run before the result.
func hasQuestion(s *delegation.Spawn) bool {
	run := s.Call().Delegation.Run
	return run != "" && s.Final > s.Item && slices.ContainsFunc(s.From.Items[s.Item:s.Final], func(it session.Item) bool {
		return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Question.Run == run })
	})
}

// formatSeconds formats a time for people.
func formatSeconds(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
