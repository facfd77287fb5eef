package pairs

import (
	"slices"
	"sort"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// syntheticText is what stands for a result that nobody has. It claims only
// what is known.
const syntheticText = session.SyntheticPrefix +
	"No result was recorded for this call. It may or may not have run; check the state before repeating it."

// unansweredText stands for the answer that somebody outside was to give.
const unansweredText = session.SyntheticPrefix +
	"The run ended before this call was answered. It may or may not have been carried out; check the state before repeating it."

// fate says what became of a call without a result.
type fate uint8

const (
	lost       fate = iota // nobody has the result: SC101
	running                // it may still come: SC102
	restorable             // a finished child holds it: SC716
)

// eachMissing calls fn for every unanswered call of one fate.
func eachMissing(p *rules.Pass, want fate, fn func(s *rules.Subject, m pairing.Missing, d *replay.Delegation)) {
	for _, s := range p.Viewers {
		for _, m := range s.Pairs.Missing {
			d := s.Delegation(m.Call)
			if fateOf(s, p.Store.WriterOf(s.Session), m, d) == want {
				fn(s, m, d)
			}
		}
	}
}

func fateOf(s *rules.Subject, writer session.Writer, m pairing.Missing, d *replay.Delegation) fate {
	if c := s.CallAt(m.Call); c.Waits || c.Asked {
		return running
	}
	open := m.Tail && !s.Closed
	if open && writer == session.WriterLive {
		return running
	}
	if d != nil && d.Call().Delegation.Blocking && d.Child != nil {
		if answer, _ := answerIn(d); answer >= 0 {
			return restorable
		}
	}
	if open && writer != session.WriterDead {
		return running
	}
	return lost
}

// answerIn is the item of its child with which a delegation was answered, -1 for none. A
// child that several requests share has the answers of all of them: sure is false where
// nothing tells which request was this call's.
func answerIn(d *replay.Delegation) (item int, sure bool) {
	last := replay.LastAnswer(d.Child)
	if last < 0 {
		return -1, true
	}
	runs := rules.Invocations(d.Child)
	own := slices.DeleteFunc(slices.Clone(runs), func(v *rules.Invocation) bool { return v.Asked == 0 || v.Asked != d.Call().Delegation.Task })
	switch {
	case len(runs) < 2:
		return last, true
	case len(own) != 1:
		return last, false
	}
	part := session.Session{}
	for _, i := range own[0].Items {
		part.Items = append(part.Items, d.Child.Items[i])
	}
	if n := replay.LastAnswer(&part); n >= 0 {
		return own[0].Items[n], true
	}
	return -1, true
}

// addResult is the edit that answers a call.
func addResult(s *rules.Subject, at pairing.Occurrence, rule string, result session.NewItem) session.Edit {
	result.Kind, result.Role = session.Message, session.Tool
	result.Agent, result.CallID, result.Rule = s.Items[at.Item].Agent, s.CallAt(at).ID, rule
	call := rules.CallRef(s.Session, at.Item, at.Nth)
	return session.Edit{Op: session.Insert, To: s.ID, After: s.ItemRef(placeOfNew(s, at)), New: &result, Call: &call}
}

// placeOfNew is the item behind which a new result belongs. A runtime that stores the results
// of a turn in one item sends them in their order, without ids that it gave itself (ADK's
// remove_client_function_call_id): before the result of a later call, then.
func placeOfNew(s *rules.Subject, at pairing.Occurrence) int {
	pairs, end := s.Pairs.Pairs, len(s.Items)
	n := sort.Search(len(pairs), func(n int) bool { return at.Before(pairs[n].Call) })
	for ; s.OneAnswer && n < len(pairs) && pairs[n].Call.Item == at.Item; n++ {
		if pairs[n].Place == pairing.Adjacent {
			end = min(end, pairs[n].Result.Item)
		}
	}
	return s.AnswerPlaceBefore(end, at)
}

// lacksResult: the lost item answers the call that the finding is about.
func lacksResult(f *rules.Finding, d *replay.Difference) bool {
	if d.Kind != replay.Lost || d.Stored != f.Session || f.Item > d.StoredItem || !answers(rules.RecordedItem(d), f.Call) {
		return false
	}
	return !slices.ContainsFunc(f.Session.Items[f.Item+1:d.StoredItem+1], func(it session.Item) bool { return makes(&it, f.Call) })
}

func answers(it *session.Item, call string) bool {
	return slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.CallID == call })
}

func makes(it *session.Item, call string) bool {
	return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.ID == call })
}
