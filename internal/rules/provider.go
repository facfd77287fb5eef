package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// providerError is what the provider would answer to a request with the items
// as they are stored now, if the item takes part in a broken pair: the first
// one at or behind the item.
func (s *Subject) providerError(item int) string {
	p := s.stored()
	from := pairing.Occurrence{Item: item}
	unanswered, foreign := firstMissing(p, from), firstOrphan(p, from)
	switch {
	case unanswered != nil:
		return s.UnansweredError(s.wireIndex(unanswered.Item), s.unansweredWith(*unanswered))
	case foreign != nil && slices.ContainsFunc(p.Extras, func(e pairing.Extra) bool { return e.Result == *foreign }):
		return s.RepeatedResultError(s.wireIndex(foreign.Item), 0, s.result(*foreign).CallID)
	case foreign != nil:
		return s.ForeignResultError(s.wireIndex(foreign.Item), 0, s.result(*foreign).CallID)
	}
	return ""
}

// The texts are quoted from provider-rules.md 1.1 and 1.3; which provider's
// they are follows the model that answered last.

// UnansweredError is what the provider answers when no result stands directly
// behind calls of one message, which it names together.
func (s *Subject) UnansweredError(message int, calls []string) string {
	ids := strings.Join(calls, ", ")
	if s.openAI() {
		return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
			"The following tool_call_ids did not have response messages: " + ids
	}
	return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", message, ids)
}

// ForeignResultError is what the provider answers to a result of a call that is
// not in the message before; block is its place among the message's results.
func (s *Subject) ForeignResultError(message, block int, call string) string {
	if s.openAI() {
		return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'." //nolint:misspell // the provider's own spelling
	}
	return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
		"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", message, block, call)
}

// RepeatedResultError is what the provider answers to a second result of a call.
func (s *Subject) RepeatedResultError(message, block int, call string) string {
	if s.openAI() {
		return s.ForeignResultError(message, block, call)
	}
	return "each tool_use must have a single result. Found multiple `tool_result` blocks with id: " + call
}

// unansweredWith lists the ids of all calls of the turn that no result directly
// behind it answers.
func (s *Subject) unansweredWith(at pairing.Occurrence) []string {
	var ids []string
	for nth := range s.Items[at.Item].Calls {
		if first := firstMissing(s.stored(), pairing.Occurrence{Item: at.Item, Nth: nth}); first != nil && *first == (pairing.Occurrence{Item: at.Item, Nth: nth}) {
			ids = append(ids, s.Items[at.Item].Calls[nth].ID)
		}
	}
	return ids
}

// openAI reports whether the session's last model speaks the Chat Completions
// dialect of errors; without a known model the ids decide, else Anthropic's
// words are used, which most gateways repeat.
func (s *Subject) openAI() bool {
	if s.Model != "" {
		return strings.HasPrefix(s.Model, "openai/") || strings.HasPrefix(s.Model, "gpt-")
	}
	for i := range s.Items {
		for _, c := range s.Items[i].Calls {
			return strings.HasPrefix(c.ID, "call_")
		}
	}
	return false
}

// firstMissing is the first call, from one on, that no result directly behind
// its turn answers.
func firstMissing(p *pairing.Pairing, from pairing.Occurrence) *pairing.Occurrence {
	var at earliest
	for _, m := range p.Missing {
		at.take(m.Call, from)
	}
	for _, pair := range p.Pairs {
		if pair.Place != pairing.Adjacent {
			at.take(pair.Call, from)
		}
	}
	return at.found
}

// firstOrphan is the first result, from one on, that answers no call directly
// before it.
func firstOrphan(p *pairing.Pairing, from pairing.Occurrence) *pairing.Occurrence {
	var at earliest
	for _, o := range p.Orphans {
		at.take(o, from)
	}
	for _, e := range p.Extras {
		at.take(e.Result, from)
	}
	for _, pair := range p.Pairs {
		if pair.Place != pairing.Adjacent {
			at.take(pair.Result, from)
		}
	}
	return at.found
}

// earliest keeps the first of several occurrences.
type earliest struct{ found *pairing.Occurrence }

func (e *earliest) take(at, from pairing.Occurrence) {
	if !at.Before(from) && (e.found == nil || at.Before(*e.found)) {
		found := at // a copy, so that only what is kept is allocated
		e.found = &found
	}
}

// MessageNumbers numbers the messages that the items become in the next
// request, and at last the user's next message: system messages are not
// counted, tool items that follow each other and the user text behind them are
// one message, and a summary takes the first place (provider-rules.md 4.1,
// anthropic). An item that is no numbered message has -1.
func (s *Subject) MessageNumbers() []int {
	numbers := make([]int, len(s.Items)+1)
	n := -1
	if s.LastSummary() >= 0 {
		n = 0
	}
	var last session.Role
	for i := range numbers {
		role := session.User
		if i < len(s.Items) {
			it := &s.Items[i]
			if i < s.Start || !it.OnWire() || it.Role == session.System || it.Flags.Has(session.Blank) {
				numbers[i] = -1
				continue
			}
			role = it.Role
		}
		if last != session.Tool || role != session.Tool && role != session.User {
			n++
		}
		last = role
		numbers[i] = n
	}
	return numbers
}

// wireIndex is the number of an item's message, or of the last one before it.
func (s *Subject) wireIndex(item int) int {
	return max(slices.Max(s.MessageNumbers()[:item+1]), 0)
}
