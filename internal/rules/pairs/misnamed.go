package pairs

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// misnamed are surplus results that may be those of calls without one, although they name
// other calls: behind the call, in the same run, from the same tool. It is a map both ways,
// from such calls to such results and back. A repair neither makes up a result for such
// a call nor takes such a result out of the session.
type misnamed struct {
	calls, results map[pairing.Occurrence][]pairing.Occurrence
}

// misnamedOf is made when a rule first asks.
func misnamedOf(s *rules.Subject) *misnamed {
	return rules.Once(&s.Known, func() *misnamed { return findMisnamed(s) })
}

func findMisnamed(s *rules.Subject) *misnamed {
	found := &misnamed{map[pairing.Occurrence][]pairing.Occurrence{}, map[pairing.Occurrence][]pairing.Occurrence{}}
	if len(s.Pairs.Missing) == 0 {
		return found
	}
	surplus := slices.Clone(s.Pairs.Orphans)
	for _, e := range s.Pairs.Extras {
		made := s.Pairs.Pairs[e.Pair].Call
		if apart := s.Items[made.Item].Invocation != s.Items[e.Result.Item].Invocation; apart || !e.Same {
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
	run := s.Items[call.Item].Invocation
	return run != "" && run == s.Items[result.Item].Invocation && result.Item > call.Item &&
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
	f.Then("Call " + rules.CallName(s.CallAt(calls[0])) + " of the same run has no result, and this one may belong to it")
	return rules.Fix{Title: "decide which call the result answers", Safety: rules.Manual}
}
