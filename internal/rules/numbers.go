package rules

import (
	"github.com/sessctl/sessctl/internal/session"
)

// MessageNumbers numbers the messages that the items become in the next request
// to a provider, and at last the user's next message (provider-rules.md 4.1). A
// summary takes the first place; what the runtime puts in front of it is not
// counted. An item that is several messages has the number of the first, one
// that is no numbered message has -1.
func (s *Subject) MessageNumbers(profile *Profile) []int {
	numbers := make([]int, len(s.Items)+1)
	next := 0
	if s.LastSummary() >= 0 {
		next = 1
	}
	var last session.Role
	for i := range numbers {
		numbers[i] = -1
		role, messages := session.User, 1
		if i < len(s.Items) {
			it := &s.Items[i]
			if i < s.Start || !it.OnWire() || it.Flags.Has(session.Blank) {
				continue
			}
			role, messages = it.Role, profile.Shape.messages(it)
		}
		if role == session.System && profile.Shape <= Contents {
			continue // it is not among the messages
		}
		joins := last == session.Tool && (profile.Shape <= Contents && role == session.Tool || profile.Shape == Grouped && role == session.User)
		if joins {
			numbers[i] = next - 1
		} else {
			numbers[i] = next
			next += messages
		}
		last = role
	}
	return numbers
}

// messages is the number of messages that an item is.
func (s Shape) messages(it *session.Item) int {
	switch s {
	case OneEach:
		return max(1, len(it.Results))
	case Flat:
		said := 0
		if len(it.Calls)+len(it.Results) == 0 || it.Text != 0 && len(it.Results) == 0 && !it.Flags.Has(session.BlankText) {
			said = 1
		}
		return said + len(it.Calls) + len(it.Results)
	}
	return 1
}

// wireIndex is the number of an item's message, or of the last one before it.
func (s *Subject) wireIndex(profile *Profile, item int) int {
	last := s.numbers[profile.Shape]
	if last == nil {
		last = s.MessageNumbers(profile)
		for i := range last {
			last[i] = max(last[i], last[max(i-1, 0)])
		}
		s.numbers[profile.Shape] = last
	}
	return max(last[item], 0)
}
