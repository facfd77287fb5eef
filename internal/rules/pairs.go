package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// pair sets the pairs of a subject. Where the store's reader puts results behind
// their calls, a late one is in its place. What an archived half leaves alone is no pair
// that is missing something, and a call that waits for somebody may have several
// answers.
func (p *Pass) pair(s *Subject, keep func(i int) bool) {
	s.Pairs = pairing.Claim(s.Items, keep)
	for i := range s.Pairs.Pairs {
		if pair := &s.Pairs.Pairs[i]; s.gathers && pair.Place == pairing.Late {
			pair.Place = pairing.Adjacent
		}
	}
	s.Pairs.Extras = slices.DeleteFunc(s.Pairs.Extras, func(e pairing.Extra) bool { return s.replaced(s.Pairs, e) })
	archived := func(i int) bool { return s.Items[i].Flags.Has(session.Archived) }
	if len(s.Pairs.Missing)+len(s.Pairs.Orphans) == 0 || !slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Flags.Has(session.Archived) }) {
		return
	}
	full := slices.Clone(s.Items)
	for i := range full {
		full[i].Flags &^= session.Archived
	}
	halves := map[pairing.Occurrence]bool{}
	for _, pair := range pairing.Claim(full, keep).Pairs {
		if archived(pair.Call.Item) != archived(pair.Result.Item) {
			s.Parted = append(s.Parted, pair)
			halves[pair.Call], halves[pair.Result] = true, true
		}
	}
	s.Pairs.Missing = slices.DeleteFunc(s.Pairs.Missing, func(m pairing.Missing) bool { return halves[m.Call] })
	s.Pairs.Orphans = slices.DeleteFunc(s.Pairs.Orphans, func(at pairing.Occurrence) bool { return halves[at] })
}

// replaced reports whether a second result is no second one in a request: that of a
// call which waits is answered by whatever comes last, and where the runtime gathers
// results, an interim one gives way.
func (s *Subject) replaced(by *pairing.Pairing, e pairing.Extra) bool {
	return s.CallAt(by.Pairs[e.Pair].Call).Waits || s.gathers && s.ResultAt(e.Result).Pending
}
