package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
)

// providerError is what a provider would answer to a request with the items as
// they are stored now, if the item takes part in a broken pair: the first one at
// or behind the item.
func (s *Subject) providerError(profile *Profile, item int) string {
	b, from := s.broken(profile.positional()), pairing.Occurrence{Item: item}
	if calls := b.calls[firstFrom(b.calls, from):]; len(calls) > 0 {
		var ids []string
		for _, c := range calls {
			if c.Item != calls[0].Item {
				break
			}
			ids = append(ids, s.call(c).ID)
		}
		return s.UnansweredError(profile, s.wireIndex(profile, calls[0].Item), ids)
	}
	if results := b.results[firstFrom(b.results, from):]; len(results) > 0 {
		first := results[0]
		return s.SurplusError(profile, s.wireIndex(profile, first.Item), 0, s.result(first).CallID, b.repeated[first])
	}
	return ""
}

// UnansweredError is what the provider answers when no result stands directly
// behind calls of one message, which it names together.
func (s *Subject) UnansweredError(profile *Profile, message int, calls []string) string {
	return profile.Error("SC101", Said{Message: message, ID: strings.Join(calls, ", ")})
}

// SurplusError is what the provider answers to a result of a call that is not in
// the message before, or that is repeated; block is its place among the
// message's results.
func (s *Subject) SurplusError(profile *Profile, message, block int, call string, repeated bool) string {
	rule := "SC103"
	if repeated {
		rule = "SC106"
	}
	return profile.Error(rule, Said{Message: message, Block: block, ID: call})
}

// broken are the calls and results that a provider refuses, as they are stored,
// in their order.
type broken struct {
	calls    []pairing.Occurrence // that no result answers where it has to
	results  []pairing.Occurrence // that answer no call where they stand
	repeated map[pairing.Occurrence]bool
}

// broken lists the broken pairs for a provider that wants a result directly
// behind its call's turn, or for one that does not mind how late it comes.
func (s *Subject) broken(positional bool) *broken {
	if b := s.torn[positional]; b != nil {
		return b
	}
	p, b := s.stored(), &broken{repeated: map[pairing.Occurrence]bool{}}
	for _, m := range p.Missing {
		b.calls = append(b.calls, m.Call)
	}
	b.results = append(b.results, p.Orphans...)
	for _, e := range p.Extras {
		b.results = append(b.results, e.Result)
		b.repeated[e.Result] = true
	}
	for _, pair := range p.Pairs {
		if positional && pair.Place != pairing.Adjacent {
			b.calls = append(b.calls, pair.Call)
		}
		if pair.Place == pairing.Early || positional && pair.Place == pairing.Late {
			b.results = append(b.results, pair.Result)
		}
	}
	slices.SortFunc(b.calls, compareOccurrences)
	slices.SortFunc(b.results, compareOccurrences)
	if s.torn == nil {
		s.torn = map[bool]*broken{}
	}
	s.torn[positional] = b
	return b
}

func compareOccurrences(a, b pairing.Occurrence) int {
	return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Nth, b.Nth))
}

// firstFrom is the index of the first occurrence that is not before another.
func firstFrom(list []pairing.Occurrence, from pairing.Occurrence) int {
	i, _ := slices.BinarySearchFunc(list, from, compareOccurrences)
	return i
}
