package rules

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
)

// Refused are the calls and results of the next request that a provider refuses,
// as they are stored and in their order. Which result is the right one is not
// asked here: a placeholder answers its call as well as the real result does.
type Refused struct {
	Calls    []pairing.Occurrence        // that no result answers where the provider looks for one
	Results  []pairing.Occurrence        // that answer no open call there
	Repeated map[pairing.Occurrence]bool // those of Results whose call is answered already
}

// Refused lists what the provider refuses. The calls of a message stay open until
// the next message that is no result or, where ids alone say what answers what,
// to the end. What is no message of the request parts nothing, and what the
// provider's own server ran is answered within its message.
func (s *Subject) Refused(profile *Profile) *Refused {
	_, strict := profile.Levels["SC108"]
	by := readingBy{profile.Shape, strict}
	if known := s.refused[by]; known != nil {
		return known
	}
	r := s.reading(profile, strict)
	for item, number := range s.MessageNumbers(profile)[:len(s.Items)] {
		if number >= 0 {
			r.read(item)
		}
	}
	r.leave()
	r.finish()
	if s.refused == nil {
		s.refused = map[readingBy]*Refused{}
	}
	s.refused[by] = &r.Refused
	return &r.Refused
}

// readingBy is what a reading depends on.
type readingBy struct {
	shape  Shape
	strict bool
}

// reading is a request on its way through a provider's checks.
type reading struct {
	*Subject
	Refused
	positional bool
	strict     bool // results within messages of the assistant are refused

	unnamed map[pairing.Occurrence]pairing.Occurrence // pairs that their places alone join, by result
	inside  map[pairing.Occurrence]pairing.Occurrence // pairs whose result is within an assistant's message
	settled map[pairing.Occurrence]bool               // calls that need no other answer
	moved   map[pairing.Occurrence]bool               // results that the runtime puts behind their calls, or leaves out

	open []pairing.Occurrence // calls that a result may answer here, the nearest message's first
	seen map[string]bool      // the ids that calls have here, open or not
}

func (s *Subject) reading(profile *Profile, strict bool) *reading {
	r := &reading{
		Subject: s, positional: profile.positional(), strict: strict,
		Refused: Refused{Repeated: map[pairing.Occurrence]bool{}},
		unnamed: map[pairing.Occurrence]pairing.Occurrence{},
		inside:  map[pairing.Occurrence]pairing.Occurrence{},
		settled: map[pairing.Occurrence]bool{},
		moved:   map[pairing.Occurrence]bool{},
		seen:    map[string]bool{},
	}
	for _, pair := range s.Stored().Pairs {
		switch {
		case pair.Place == pairing.Late && s.gathers:
			r.moved[pair.Result], r.settled[pair.Call] = true, true
		case pair.Place == pairing.Inside:
			r.inside[pair.Result] = pair.Call
			r.settled[pair.Call] = !strict
		case s.CallAt(pair.Call).ID != s.ResultAt(pair.Result).CallID:
			r.unnamed[pair.Result] = pair.Call
		}
	}
	for _, e := range s.Stored().Extras {
		r.moved[e.Result] = s.replaced(s.Stored(), e)
	}
	return r
}

// read takes in the next message. Results in a user's or a tool's message answer
// what stands before it; what an assistant's message holds belongs to its calls.
func (r *reading) read(item int) {
	it := &r.Items[item]
	if it.Answers() {
		r.answers(item)
	}
	if r.positional && (!it.Answers() || pairing.EndsGroup(it)) {
		r.leave()
	}
	var calls []pairing.Occurrence
	for n := range it.Calls {
		if at := (pairing.Occurrence{Item: item, Nth: n}); !it.Calls[n].Server {
			r.seen[it.Calls[n].ID] = true
			if !r.settled[at] {
				calls = append(calls, at)
			}
		}
	}
	r.open = slices.Insert(r.open, 0, calls...)
	if !it.Answers() {
		r.answers(item)
	}
}

// answers gives the results of a message to the open calls.
func (r *reading) answers(item int) {
	for n := range r.Items[item].Results {
		at := pairing.Occurrence{Item: item, Nth: n}
		if _, inside := r.inside[at]; inside || r.moved[at] || r.ResultAt(at).Server {
			continue
		}
		first := slices.IndexFunc(r.open, func(call pairing.Occurrence) bool { return r.answered(at, call) })
		if first >= 0 && (!r.positional || r.Items[item].Answers()) {
			r.open = slices.Delete(r.open, first, first+1)
			continue
		}
		r.Results = append(r.Results, at)
		r.Repeated[at] = first < 0 && r.seen[r.ResultAt(at).CallID]
	}
}

// answered reports whether the result is one of the call.
func (r *reading) answered(result, call pairing.Occurrence) bool {
	if named, alone := r.unnamed[result]; alone {
		return named == call
	}
	return r.ResultAt(result).CallID == r.CallAt(call).ID
}

// leave ends the run of results: the provider looks no further for those of the
// open calls.
func (r *reading) leave() {
	r.Calls, r.open = append(r.Calls, r.open...), r.open[:0]
	clear(r.seen)
}

// finish adds the results within messages of the assistant that are refused
// although their calls are answered elsewhere: with the others, the refused call
// says it all.
func (r *reading) finish() {
	slices.SortFunc(r.Calls, compareOccurrences)
	for result, call := range r.inside {
		if _, said := slices.BinarySearchFunc(r.Calls, call, compareOccurrences); r.strict && !said {
			r.Results = append(r.Results, result)
		}
	}
	slices.SortFunc(r.Results, compareOccurrences)
}

func compareOccurrences(a, b pairing.Occurrence) int {
	return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Nth, b.Nth))
}

// behind are the occurrences of a sorted list that are not before another.
func behind(list []pairing.Occurrence, from pairing.Occurrence) []pairing.Occurrence {
	i, _ := slices.BinarySearchFunc(list, from, compareOccurrences)
	return list[i:]
}

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
