package rules

import (
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
)

// ProviderError is what a provider would answer to a request with the items as
// they are stored now, if it refuses a pair: the first one at or behind the item,
// or where there is none, the first of all. "" when it refuses none.
func (s *Subject) ProviderError(profile *Profile, item int) string {
	if s.sketched {
		return ""
	}
	refused := s.Refused(profile)
	for _, from := range []pairing.Occurrence{{Item: item}, {}} {
		if calls := behind(refused.Calls, from); len(calls) > 0 {
			var ids []string
			for _, c := range calls {
				if c.Item != calls[0].Item {
					break
				}
				ids = append(ids, s.CallAt(c).ID)
			}
			return s.UnansweredError(profile, s.WireIndex(profile, calls[0].Item), ids)
		}
		if results := behind(refused.Results, from); len(results) > 0 {
			first := results[0]
			return s.SurplusError(profile, s.WireIndex(profile, first.Item), 0, s.ResultAt(first).CallID, refused.Repeated[first])
		}
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
