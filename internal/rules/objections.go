package rules

import "github.com/sessctl/sessctl/internal/pairing"

// Objection is what a provider refuses about the calls or a result of one item of a
// request, in the order of the request.
type Objection struct {
	Item  int
	IDs   []string // of the calls that have no result, or of the result
	Error string   // in the provider's words; "" where the number of the message is not known
	Told  string   // the same as findings have it, which do not count the results of a message
}

// Objections lists what the provider refuses of the calls and results of the next
// request.
func (s *Subject) Objections(profile *Profile) []Objection {
	refused := s.Refused(profile)
	if len(refused.Calls)+len(refused.Results) == 0 {
		return nil
	}
	var list []Objection
	calls, results := byItem(refused.Calls), byItem(refused.Results)
	message, blocks := -1, 0 // blocks counts the results of the message so far
	for i, number := range s.MessageNumbers(profile)[:len(s.Items)] {
		if number < 0 {
			continue
		}
		if number != message {
			message, blocks = number, 0
		}
		it := &s.Items[i]
		var open []string
		for _, n := range calls[i] {
			open = append(open, it.Calls[n].ID)
		}
		if open != nil {
			text := s.UnansweredError(profile, number, open)
			list = append(list, Objection{i, open, text, text})
		}
		for _, n := range results[i] {
			id, repeated := it.Results[n].CallID, refused.Repeated[pairing.Occurrence{Item: i, Nth: n}]
			list = append(list, Objection{
				i, []string{id}, s.SurplusError(profile, number, blocks+n, id, repeated), s.SurplusError(profile, number, 0, id, repeated),
			})
		}
		blocks += len(it.Results)
	}
	if s.sketched {
		for n := range list {
			list[n].Error, list[n].Told = "", ""
		}
	}
	return list
}

// byItem groups occurrences by their item.
func byItem(list []pairing.Occurrence) map[int][]int {
	items := map[int][]int{}
	for _, at := range list {
		items[at.Item] = append(items[at.Item], at.Nth)
	}
	return items
}
