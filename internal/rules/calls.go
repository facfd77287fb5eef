package rules

import (
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// DelegationAt is the delegation that an occurrence is the call of, nil for any
// other call.
func (s *Subject) DelegationAt(at pairing.Occurrence) *replay.Delegation {
	for _, d := range s.Replay.Delegations {
		if d.Item == at.Item && d.Nth == at.Nth {
			return d
		}
	}
	return nil
}

// CallAt is the call of an occurrence.
func (s *Subject) CallAt(at pairing.Occurrence) *session.Call {
	return &s.Items[at.Item].Calls[at.Nth]
}

// ResultAt is the result of an occurrence.
func (s *Subject) ResultAt(at pairing.Occurrence) *session.Result {
	return &s.Items[at.Item].Results[at.Nth]
}

// AnswerPlace is the item behind which a result of the call belongs: the last
// result of its answer group, or the sub-session item of its child. Leaked items
// do not count where they leave.
func (s *Subject) AnswerPlace(at pairing.Occurrence) int {
	return s.AnswerPlaceBefore(len(s.Items), at)
}

// AnswerPlaceBefore is the place of a result of the call that must not stand
// behind the item at index end.
func (s *Subject) AnswerPlaceBefore(end int, at pairing.Occurrence) int {
	place, reference := at.Item, -1
	if d := s.DelegationAt(at); d != nil {
		reference = d.Reference
	}
	for i := at.Item + 1; i < end; i++ {
		it := &s.Items[i]
		switch {
		case i == reference:
			place = i
		case !it.OnWire() || !s.IsOwn(i) && !s.IsUndecidable(i):
		case it.IsAnswer() && !pairing.EndsGroup(it):
			place = i
		default:
			return place
		}
	}
	return place
}

// undecidable are the items that may have leaked, of which nothing tells.
type undecidable map[int]bool

// IsUndecidable reports whether an item is such a one: it never leaves.
func (s *Subject) IsUndecidable(item int) bool {
	return ComputeOnce(&s.Known, func() undecidable {
		items := undecidable{}
		for _, d := range s.Replay.Delegations {
			for _, l := range d.Leaked {
				items[l.Item] = items[l.Item] || l.Undecidable
			}
		}
		return items
	})[item]
}

// FindCall starts a finding about one call or result of an item. What stands
// before the next request's start, or in a child that is never sent again, is
// history: the finding is an info and has no repair.
func (p *Pass) FindCall(s *Subject, at pairing.Occurrence, id string) Finding {
	f := p.FindItem(s.Session, at.Item)
	f.Nth, f.Call = at.Nth, id
	if s.IsHistory(at.Item) {
		f.Severity = Info
	}
	return f
}

// IsHistory reports whether the item reaches no further request.
func (s *Subject) IsHistory(item int) bool { return s.Closed || item < s.Start }

// HidesMessages reports whether messages of a session are sent that only its runtime can read.
func HidesMessages(s *session.Session) bool {
	return slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.SchemaUnknown && f.Count > 0 })
}

// HistoryReason is a sentence that says why a finding is only an info, "" where it is more.
func (s *Subject) HistoryReason(item int) string {
	switch {
	case s.Closed:
		return "This sub-session is finished and is never sent to a model again"
	case item < s.Start:
		return "A summary covers this part of the session, so it is not sent to a model again"
	}
	return ""
}

// ReportCall hands over a finding of FindCall with its fix.
func (p *Pass) ReportCall(s *Subject, f Finding, fix Fix) {
	f.AddSentence(s.HistoryReason(f.Item))
	if s.IsHistory(f.Item) {
		f.Failing = nil
		p.Report(f)
		return
	}
	if HidesMessages(s.Session) {
		f.Severity = min(f.Severity, Warning)
		f.AddSentence("Messages of the session are encrypted, and what belongs to it may be one of them")
		p.Report(f)
		return
	}
	if s.isStuck(f.Item, fix) {
		f.AddSentence("It is left in place, because its record has another defect that must be repaired first")
	} else {
		f.Fixes = []Fix{fix}
	}
	if f.Failing == nil {
		f.Failing = func(p *Profile) string { return s.ProviderError(p, f.Item) }
	}
	p.Report(f)
}

// isStuck reports whether a fix takes a part out of a record that has a defect of
// its own: which of the two would have it then cannot be told. Text that is no
// Unicode is mended by a repair before. So is what decides which messages are sent, and the
// time of one that stands in a wrong place because of it.
func (s *Subject) isStuck(item int, fix Fix) bool {
	about := func(row string) bool {
		return slices.ContainsFunc(fix.Edits, func(e session.Edit) bool { return e.Ref.Row() == row || e.After.Row() == row })
	}
	if slices.ContainsFunc(s.Faults, func(f session.Fault) bool {
		return f.Default != nil && (f.Hides && f.Remedy == "" || f.Position != 0 && about(f.Ref.Row()))
	}) {
		return true
	}
	return slices.ContainsFunc(fix.Edits, func(e session.Edit) bool { return e.Ref.Pointer != "" }) &&
		slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Item == item && f.Kind != session.BadUnicode })
}

// resultRef addresses one result: its item, or its part of an item that holds
// more.
func (s *Subject) resultRef(at pairing.Occurrence) session.Ref {
	ref, it := s.ItemRef(at.Item), &s.Items[at.Item]
	if len(it.Results) > 1 || it.Role != session.Tool {
		ref.Pointer = "/results/" + strconv.Itoa(at.Nth)
	}
	return ref
}

// QuarantineResult is the fix that takes a result out of the session.
func (s *Subject) QuarantineResult(at pairing.Occurrence, title string) Fix {
	return NewFix(Kept, title, session.Edit{Op: session.Quarantine, Ref: s.resultRef(at)})
}

// MoveResult is the fix that moves a result to its call's answer group.
func (s *Subject) MoveResult(pair pairing.Pair, title string) Fix {
	return s.MoveBehind(pair, s.AnswerPlace(pair.Call), title)
}

// MoveBehind is the fix that moves a result behind the item at index place.
func (s *Subject) MoveBehind(pair pairing.Pair, place int, title string) Fix {
	ref := s.resultRef(pair.Result)
	if s.answersOne(pair) {
		ref.Pointer = ""
	}
	return NewFix(Lossless, title, session.Edit{Op: session.Move, Ref: ref, To: s.ID, After: s.ItemRef(place)})
}

// answersOne reports whether the item of a result holds several, all of which answer
// calls of the pair's turn: then it moves as a whole.
func (s *Subject) answersOne(pair pairing.Pair) bool {
	it, mine := &s.Items[pair.Result.Item], 0
	if it.Role != session.Tool || len(it.Results) < 2 {
		return false
	}
	for _, other := range s.Pairs.Pairs {
		if other.Result.Item == pair.Result.Item && other.Call.Item == pair.Call.Item {
			mine++
		}
	}
	return mine == len(it.Results)
}

// CallRef addresses a call of an item.
func CallRef(s *session.Session, item, nth int) session.CallRef {
	c := &s.Items[item].Calls[nth]
	return session.CallRef{Ref: s.ItemRef(item), ID: c.ID, Nth: nth, Name: c.Name}
}

// AddIDs notes the ids of the calls of an item.
func AddIDs(ids map[string]bool, it *session.Item) {
	for n := range it.Calls {
		ids[it.Calls[n].ID] = true
	}
}
