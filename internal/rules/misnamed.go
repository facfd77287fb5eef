package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// misnamed are surplus results that may be those of calls without one, although they name
// other calls: behind the call, in the same run, from the same tool. It is a map both ways,
// from such calls to such results and back. A repair neither makes up a result for such
// a call nor takes such a result out of the session.
type misnamed struct {
	calls, results map[pairing.Occurrence][]pairing.Occurrence
}

// misnamed is made when a rule first asks.
func (s *Subject) misnamed() *misnamed {
	return once(&s.known, func() *misnamed { return s.findMisnamed() })
}

func (s *Subject) findMisnamed() *misnamed {
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
			if s.mayAnswer(r, m.Call) {
				found.calls[m.Call] = append(found.calls[m.Call], r)
				found.results[r] = append(found.results[r], m.Call)
			}
		}
	}
	return found
}

// mayAnswer reports whether a result of some other id is such a one of a call.
func (s *Subject) mayAnswer(result, call pairing.Occurrence) bool {
	r, c := s.result(result), s.call(call)
	run := s.Items[call.Item].Invocation
	return run != "" && run == s.Items[result.Item].Invocation && result.Item > call.Item &&
		r.Name != "" && r.Name == c.Name && !r.Synthetic && !r.Pending
}

// ownResult is the fix that gives a call the result that names another one, where it is
// the only one of both.
func (s *Subject) ownResult(call pairing.Occurrence) Fix {
	may := s.misnamed().calls[call]
	if len(may) > 1 || len(s.misnamed().results[may[0]]) > 1 {
		return Fix{Title: "decide which of the results behind it is its own", Safety: Manual}
	}
	return Fix{
		Title: "let the result of the same tool in the same run, which names another call, answer it", Safety: Lossless, Allow: []string{"guesses"},
		Edits: []session.Edit{s.nameResult(may[0], s.call(call).ID)},
	}
}

// orOwner is a fix that takes a result out of the session, unless it may be that of
// another call.
func (s *Subject) orOwner(f *Finding, result pairing.Occurrence, fix Fix) Fix {
	calls := s.misnamed().results[result]
	if len(calls) == 0 {
		return fix
	}
	f.Message += "; call " + callName(s.call(calls[0])) + " of the same run has no result, and this one may be its own"
	return Fix{Title: "decide which call the result answers", Safety: Manual}
}
