package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// MessageNumbers numbers the messages that the items become in the next request
// to a provider, and at last the user's next message. A
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
			if i < s.Start || !it.OnWire() {
				continue
			}
			if role, messages = it.Role, profile.Shape.messages(it); messages == 0 {
				continue
			}
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

// messages is the number of messages that an item is, 0 for one that says nothing.
func (s Shape) messages(it *session.Item) int {
	switch {
	case s == Flat:
		return saidApart(it) + reasoningParts(it.Blocks) + len(it.Calls) + len(it.Results)
	case it.Flags.Has(session.Blank):
		return 0
	case s == OneEach:
		return max(1, len(it.Results))
	}
	return 1
}

// saidApart is 1 where what an item says is an input item of its own beside its
// calls, results and reasoning, else 0.
func saidApart(it *session.Item) int {
	parts := len(it.Calls) + len(it.Results)
	if it.Flags.Has(session.Blank) || parts > 0 && (it.Text == 0 || len(it.Results) > 0 || it.Flags.Has(session.BlankText)) {
		return 0
	}
	return 1
}

// reasoningParts counts the parts that are reasoning: where calls are items of
// their own, so is each of these.
func reasoningParts(blocks []session.Block) int {
	n := 0
	for i := range blocks {
		if blocks[i].Kind == session.ReasoningBlock {
			n++
		}
	}
	return n
}

// flatPlace is the place of a call among the input items that its item becomes:
// in the order of the parts where they are known, else behind what is said.
func flatPlace(it *session.Item, nth int) int {
	at := callBlock(it, nth)
	if at < 0 {
		return saidApart(it) + reasoningParts(it.Blocks) + nth
	}
	before, calls := it.Blocks[:at], 0
	said := 0
	for i := range before {
		switch before[i].Kind {
		case session.CallBlock, session.ResultBlock:
			calls++
		case session.TextBlock, session.MediaBlock, session.UnknownBlock:
			said = saidApart(it)
		}
	}
	return said + reasoningParts(before) + calls
}

// callBlock is the index of the part that a call is, -1 when it is not known.
func callBlock(it *session.Item, nth int) int {
	return slices.IndexFunc(it.Blocks, func(b session.Block) bool { return b.Kind == session.CallBlock && b.Nth == nth })
}

// WireIndex is the number of an item's message, or of the last one before it.
func (s *Subject) WireIndex(profile *Profile, item int) int {
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
