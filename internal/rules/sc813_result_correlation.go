package rules

import (
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

var resultCorrelation = Rule{
	ID: "SC813", Name: "result-correlation", Severity: Warning, Safety: None, Scope: PerTree, Optional: true, Since: "0.1.0",
	Title: "a result is another delegation's by its correlation, or came after its delegation's time was over",
	Run: func(p *Pass) {
		timed := p.recordsTimeouts()
		for _, s := range p.Subjects {
			for _, d := range s.Replay.Delegations {
				at := spawn{Delegation: d, parent: s}
				if r := at.Outcome(); r != nil {
					p.reportCorrelation(&at, r)
					if timed {
						p.reportLate(&at, r)
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
func (p *Pass) recordsTimeouts() bool {
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
func (p *Pass) reportCorrelation(s *spawn, r *session.Result) {
	d := s.Call().Delegation
	var wrong string
	switch {
	case d.Correlation != "" && r.Correlation != "" && d.Correlation != r.Correlation:
		wrong = "carries the correlation " + quoted(r.Correlation) + ", and the call " + quoted(d.Correlation)
	case d.Child != "" && r.Child != "" && d.Child != r.Child:
		wrong = "is said to come from " + Short(r.Child) + ", and the call started " + Short(d.Child)
	default:
		return
	}
	f := p.find(s.parent.Session, s.Final)
	f.Call = s.Call().ID
	f.Message = "the result of " + callName(s.Call()) + " " + wrong + ": it may be another delegation's"
	f.Related = []session.Place{s.parent.At(s.Item)}
	p.Report(f)
}

// reportLate looks at the time between call and result. That a child failed may be
// told when its time is over.
func (p *Pass) reportLate(s *spawn, r *session.Result) {
	d := s.Call().Delegation
	given, whose := d.Timeout, "that the call gave"
	if given == 0 {
		given, whose = p.isolation().Timeout, "that is the limit (isolation: timeout in .sessctl.yaml)"
	}
	took, known := s.took()
	if r.IsError || r.Synthetic || given == 0 || !known || took <= given+timeResolution {
		return
	}
	f := p.find(s.parent.Session, s.Final)
	f.Call, f.Nth = s.Call().ID, 1
	f.Message = "the result of " + callName(s.Call()) + " came after " + seconds(took) + ", and not within the " + seconds(given) + " " + whose
	f.Related = []session.Place{s.parent.At(s.Item)}
	p.Report(f)
}

// took is the time from call to result, where the store has both. How long a person
// took to approve is not the child's time.
func (s *spawn) took() (time.Duration, bool) {
	if s.Final < 0 || s.waited() {
		return 0, false
	}
	called, answered := s.parent.Items[s.Item].Time, s.parent.Items[s.Final].Time
	return answered.Sub(called), !called.IsZero() && !answered.IsZero()
}

// waited reports whether the child waited for a person: the first result says so, or the
// question to the person does, where no such result is stored.
func (s *spawn) waited() bool {
	return s.Result >= 0 && slices.ContainsFunc(s.parent.Items[s.Result].Results, func(r session.Result) bool {
		return r.CallID == s.Call().ID && r.Pending
	}) || s.questioned()
}

// questioned reports whether a person was asked about the child's run before the result.
func (s *spawn) questioned() bool {
	run := s.Call().Delegation.Run
	return run != "" && s.Final > s.Item && slices.ContainsFunc(s.parent.Items[s.Item:s.Final], func(it session.Item) bool {
		return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Question.Run == run })
	})
}

// seconds is a time for people.
func seconds(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
