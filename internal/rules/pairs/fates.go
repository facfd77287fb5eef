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
			d := s.DelegationAt(m.Call)
			if fateOf(s, p.Store.WriterOf(s.Session), m, d) == want && !isEcho(p, s, m.Call.Item) { // SC202 takes that out
				fn(s, m, d)
			}
		}
	}
}

func fateOf(s *rules.Subject, writer session.Writer, m pairing.Missing, d *replay.Delegation) fate {
	if c := s.CallAt(m.Call); c.Waits || c.Asked || c.Owed {
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
	runs := rules.ListInvocations(d.Child)
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
	result.Agent, result.CallID, result.Rule = s.Items[at.Item].Agent(), s.CallAt(at).ID, rule
	call := rules.CallRef(s.Session, at.Item, at.Nth)
	return session.Edit{Op: session.Insert, To: s.ID, After: s.ItemRef(placeOfNew(s, at)), New: &result, Call: &call}
}

// endRuns are the edits that end the runs of a call that still wait for somebody, where it
// gets a result that says that nobody will answer: their records would say otherwise for ever.
func endRuns(s *rules.Subject, at pairing.Occurrence) (edits []session.Edit) {
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Ends != "" && s.Items[at.Item].Invocation() != "" && s.InvocationOf(run) == s.Items[at.Item].Invocation() {
			edits = append(edits, session.Edit{Op: session.Set, Ref: s.RunRef(i), Field: session.FieldState, Value: &run.Ends})
		}
	}
	return edits
}

// waitsBeside reports whether another call of the invocation may still be answered.
func waitsBeside(s *rules.Subject, at pairing.Occurrence) bool {
	for i := range s.Items {
		it := &s.Items[i]
		if it.OnWire() && it.Invocation() == s.Items[at.Item].Invocation() &&
			(slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Waits || c.Asked }) ||
				slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.Pending })) {
			return true
		}
	}
	return false
}

// placeOfNew is the item behind which a new result belongs. A runtime that stores the results
// of a turn in one item sends them in their order, without ids that it gave itself (ADK's
// remove_client_function_call_id): before the result of a later call, then. So it stands
// where the record of a call holds its result.
func placeOfNew(s *rules.Subject, at pairing.Occurrence) int {
	pairs, end := s.Pairs.Pairs, len(s.Items)
	n := sort.Search(len(pairs), func(n int) bool { return at.Before(pairs[n].Call) })
	for ; (s.OneAnswer || s.CallOrder) && n < len(pairs) && pairs[n].Call.Item == at.Item; n++ {
		if pairs[n].Place == pairing.Adjacent {
			end = min(end, pairs[n].Result.Item)
		}
	}
	return s.AnswerPlaceBefore(end, at)
}

// lacksResult: the lost item answers the call that the finding is about.
func lacksResult(f *rules.Finding, d *replay.Difference) bool {
	if d.Kind != replay.Lost || d.Stored != f.Session || f.Item > d.StoredItem || !rules.RecordedItem(d).AnswersCall(f.Call) {
		return false
	}
	return !slices.ContainsFunc(f.Session.Items[f.Item+1:d.StoredItem+1], func(it session.Item) bool { return it.MakesCall(f.Call) })
}

// misnamed are surplus results that may be those of calls without one, although they name
// other calls: behind the call, in the same run, from the same tool. It is a map both ways,
// from such calls to such results and back. A repair neither makes up a result for such
// a call nor takes such a result out of the session.
type misnamed struct {
	calls, results map[pairing.Occurrence][]pairing.Occurrence
}

// misnamedOf is made when a rule first asks.
func misnamedOf(s *rules.Subject) *misnamed {
	return rules.ComputeOnce(&s.Known, func() *misnamed { return findMisnamed(s) })
}

func findMisnamed(s *rules.Subject) *misnamed {
	found := &misnamed{map[pairing.Occurrence][]pairing.Occurrence{}, map[pairing.Occurrence][]pairing.Occurrence{}}
	if len(s.Pairs.Missing) == 0 {
		return found
	}
	surplus := slices.Clone(s.Pairs.Orphans)
	for _, e := range s.Pairs.Extras {
		made := s.Pairs.Pairs[e.Pair].Call
		if apart := s.Items[made.Item].Invocation() != s.Items[e.Result.Item].Invocation(); apart || !e.Same {
			surplus = append(surplus, e.Result)
		}
	}
	for _, m := range s.Pairs.Missing {
		for _, r := range surplus {
			if mayAnswer(s, r, m.Call) {
				found.calls[m.Call] = append(found.calls[m.Call], r)
				found.results[r] = append(found.results[r], m.Call)
			}
		}
	}
	return found
}

// mayAnswer reports whether a result of some other id is such a one of a call.
func mayAnswer(s *rules.Subject, result, call pairing.Occurrence) bool {
	r, c := s.ResultAt(result), s.CallAt(call)
	run := s.Items[call.Item].Invocation()
	return run != "" && run == s.Items[result.Item].Invocation() && result.Item > call.Item &&
		r.Name != "" && r.Name == c.Name && !r.Synthetic && !r.Pending
}

// mayBeOwn says of a call without a result that there is such a one.
const mayBeOwn = "A result of the same tool in the same run names another call and may belong to this one"

// ownResult is the fix that gives a call the result that names another one, where it is
// the only one of both.
func ownResult(s *rules.Subject, call pairing.Occurrence) rules.Fix {
	may := misnamedOf(s).calls[call]
	if len(may) > 1 || len(misnamedOf(s).results[may[0]]) > 1 {
		return rules.Fix{Title: "decide which of the results after it belongs to it", Safety: rules.Manual}
	}
	return rules.Fix{
		Title: "use the result of the same tool in the same run that names another call", Safety: rules.Lossless, Allow: []string{"guesses"},
		Edits: []session.Edit{s.NameResult(may[0], s.CallAt(call).ID)},
	}
}

// orOwner is a fix that takes a result out of the session, unless it may be that of
// another call.
func orOwner(s *rules.Subject, f *rules.Finding, result pairing.Occurrence, fix rules.Fix) rules.Fix {
	calls := misnamedOf(s).results[result]
	if len(calls) == 0 {
		return fix
	}
	f.AddSentence("Call " + rules.CallName(s.CallAt(calls[0])) + " of the same run has no result, and this one may belong to it")
	return rules.Fix{Title: "decide which call the result answers", Safety: rules.Manual}
}
