package rules

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// NumberMessages numbers the messages of the next request, as ArrangedMessages yields them, and at last the
// user's next message. A summary takes the first place; what the runtime puts in front of it
// is not counted. What is several messages for the provider has the number of the first, and
// what is no numbered message has -1.
func (s *Subject) NumberMessages(profile *Profile) []int {
	s.arrangeMessages()
	numbers := make([]int, 0, len(s.stored)+1)
	next := 0
	if s.LastSummary() >= 0 {
		next = 1
	}
	var last session.Role
	add := func(role session.Role, messages int) {
		joins := last == session.Tool && (profile.Shape <= Contents && role == session.Tool || profile.Shape == Grouped && role == session.User)
		switch {
		case messages == 0, role == session.System && profile.Shape <= Contents: // not among the messages
			numbers = append(numbers, -1)
			return
		case joins:
			numbers = append(numbers, next-1)
		default:
			numbers = append(numbers, next)
			next += messages
		}
		last = role
	}
	for _, m := range s.ArrangedMessages() {
		it := s.messageAsItem(&m)
		add(it.Role, profile.Shape.countMessages(it))
	}
	add(session.User, 1)
	return numbers
}

// MessageNumbers are the numbers of the messages that the items become in the next request,
// the first one of an item that is sent more than once, and at last that of the user's next
// message; -1 for items that are none.
func (s *Subject) MessageNumbers(profile *Profile) []int {
	byItem := slices.Repeat([]int{-1}, len(s.Items)+1)
	numbers := s.NumberMessages(profile)
	for n, m := range s.ArrangedMessages() {
		for _, i := range m.Items {
			if byItem[i] < 0 {
				byItem[i] = numbers[n]
			}
		}
	}
	byItem[len(s.Items)] = numbers[len(numbers)-1]
	return byItem
}

// countMessages counts the number of messages that an item is, 0 for one that says nothing.
func (s Shape) countMessages(it *session.Item) int {
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
			if last[i] < 0 {
				last[i] = last[max(i-1, 0)]
			}
		}
		s.numbers[profile.Shape] = last
	}
	return max(last[item], 0)
}

// CallSaid is where a provider sees a call: the number of its message, and its
// place among the message's parts or, where calls are a list of their own, in
// that list.
func (s *Subject) CallSaid(profile *Profile, at pairing.Occurrence) Said {
	it := &s.Items[at.Item]
	said := Said{Message: s.WireIndex(profile, at.Item), Block: at.Nth, ID: s.CallAt(at).ID}
	switch profile.Shape {
	case Grouped, Contents:
		said.Block = partOf(it, at.Nth)
	case Flat:
		said.Message += flatPlace(it, at.Nth)
	}
	return said
}

// partOf is the place of a call among the parts of its item.
func partOf(it *session.Item, nth int) int {
	if at := callBlock(it, nth); at >= 0 {
		return at
	}
	if it.Text != 0 && !it.Flags.Has(session.BlankText) {
		return nth + 1
	}
	return nth
}

// CallError makes what a provider answers to a call.
func (p *Pass) CallError(s *Subject, at pairing.Occurrence) func(*Profile) string {
	rule := p.Rule.ID
	return func(profile *Profile) string { return profile.ErrorText(rule, s.CallSaid(profile, at)) }
}

// CallPart and resultPart address one call or result within its record.
func (s *Subject) CallPart(at pairing.Occurrence) session.Ref {
	ref := s.ItemRef(at.Item)
	ref.Pointer = "/calls/" + strconv.Itoa(at.Nth)
	return ref
}

// ResultPart addresses one result of an item that holds more.
func (s *Subject) ResultPart(at pairing.Occurrence) session.Ref {
	ref := s.ItemRef(at.Item)
	ref.Pointer = "/results/" + strconv.Itoa(at.Nth)
	return ref
}

// NameCall and nameResult are the edits that give an id to a call and to what
// answers it.
func (s *Subject) NameCall(at pairing.Occurrence, id string) session.Edit {
	return session.Edit{Op: session.Set, Ref: s.CallPart(at), Field: session.FieldCallID, Value: &id}
}

// NameResult is the edit that lets a result answer the call of an id.
func (s *Subject) NameResult(at pairing.Occurrence, id string) session.Edit {
	return session.Edit{Op: session.Set, Ref: s.ResultPart(at), Field: session.FieldResultID, Value: &id}
}

// InRequest reports whether the item becomes part of the next request.
func (s *Subject) InRequest(item int) bool {
	return !s.IsHistory(item) && s.OnWire(item)
}

// SentItems yields the items of the next request.
func (s *Subject) SentItems() iter.Seq2[int, *session.Item] {
	return func(yield func(int, *session.Item) bool) {
		for i := s.Start; i < len(s.Items); i++ {
			if s.InRequest(i) && !yield(i, &s.Items[i]) {
				return
			}
		}
	}
}

// Spot is the place of a block in a session.
type Spot struct{ Item, Block int }

// FindSpots finds the places of the blocks in the next request that fit.
func (s *Subject) FindSpots(fits func(*session.Item, *session.Block) bool) []Spot {
	var list []Spot
	for i, it := range s.SentItems() {
		for n := range it.Blocks {
			if fits(it, &it.Blocks[n]) {
				list = append(list, Spot{i, n})
			}
		}
	}
	return list
}

// BlockAt is the part of an item.
func (s *Subject) BlockAt(at Spot) *session.Block { return &s.Items[at.Item].Blocks[at.Block] }

// FindBlocks starts the one finding about blocks of a session, of which there is
// at least one: it stands at the first, and so does what the provider answers.
func (p *Pass) FindBlocks(j Judged, at []Spot, said Said) Finding {
	items := lists.MapEach(at, func(s Spot) int { return s.Item })
	said.Block = at[0].Block
	f := p.FindSent(j, slices.Compact(items), said)
	f.Count = len(at)
	return f
}

// ReportBlocks reports blocks of a session in the words of word, if there are any.
func (p *Pass) ReportBlocks(j Judged, at []Spot, said Said, word func(*Finding)) {
	if len(at) > 0 {
		f := p.FindBlocks(j, at, said)
		word(&f)
		p.Report(f)
	}
}

// ReportSent reports items of a session in the words of word, if there are any.
func (p *Pass) ReportSent(j Judged, items []int, word func(*Finding)) {
	if len(items) > 0 {
		f := p.FindSent(j, items, Said{})
		word(&f)
		p.Report(f)
	}
}

// FindSent starts the one finding about items of a session, of which there is at
// least one.
func (p *Pass) FindSent(j Judged, items []int, said Said) Finding {
	f := p.FindItems(j.Session, items)
	f.Profile = j.Profile
	said.Message = j.WireIndex(j.Profile, items[0])
	f.ProviderError = j.Profile.ErrorText(p.Rule.ID, said)
	return f
}

// AnswersOnly reports whether the item is nothing but results: what is said in
// answer to calls, not by the user.
func AnswersOnly(it *session.Item) bool {
	return it.Role == session.Tool || it.Role == session.User && len(it.Results) > 0 && it.Text == 0
}

// IsForeign reports whether a model's signatures mean nothing to the provider. A
// model that no profile knows may be anybody's, so it is not foreign.
func IsForeign(profile *Profile, model string) bool {
	made := profileOf(model)
	if made == nil || made == profile {
		return false
	}
	return profile.Signers == nil || !profile.Signers().MatchString(strings.ToLower(model))
}
