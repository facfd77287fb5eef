package rules

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// Refused are the calls and results of the next request that a provider refuses,
// as they are stored and in their order. Which result is the right one is not
// asked here: a placeholder answers its call as well as the real result does.
type Refused struct {
	Calls    []pairing.Occurrence        // that no result answers where the provider looks for one
	Results  []pairing.Occurrence        // that answer no open call there
	Repeated map[pairing.Occurrence]bool // those of Results whose call is answered already
	Again    []pairing.Occurrence        // of Calls, those that a sanitiser leaves out for their ids (Sanitiser.Once)
}

// RefusedBy lists what the provider refuses. The calls of a message stay open until
// the next message that is no result or, where ids alone say what answers what,
// to the end. What is no message of the request parts nothing, and what the
// provider's own server ran is answered within its message.
func (s *Subject) RefusedBy(profile *Profile) *Refused {
	_, strict := profile.Levels["SC108"]
	by := readingBy{profile.Shape, strict}
	if known := s.refused[by]; known != nil {
		return known
	}
	r, numbers := s.newReading(profile, strict), s.NumberMessages(profile)
	for n, m := range s.ArrangedMessages() {
		if numbers[n] >= 0 {
			r.readMessage(&m)
		}
	}
	r.closeOpenCalls()
	r.addInnerResults()
	if s.refused == nil {
		s.refused = map[readingBy]*Refused{}
	}
	s.refused[by] = &r.Refused
	return &r.Refused
}

// SanitisedParts are the calls of the next request that the runtime's sanitiser answers or leaves
// out, and the results that it does not send.
func (s *Subject) SanitisedParts() *Refused {
	switch {
	case s.Mender == nil:
		return &Refused{}
	case s.Mender.Once:
		return ComputeOnce(&s.Known, s.withoutRepeats)
	case s.Mender.Pairs != "":
		return s.RefusedBy(FindProfile(s.Mender.Pairs))
	}
	return ComputeOnce(&s.Known, s.findHalves)
}

// StandsIn reports whether a call has a result in which the runtime says that it was interrupted, and passes over that: it
// says the same in other words.
func (s *Subject) StandsIn(call string) bool {
	return s.AlwaysMended() && slices.ContainsFunc(s.Items, func(it session.Item) bool {
		return it.Passed && slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.CallID == call && r.Synthetic })
	})
}

// withoutRepeats are, besides the calls and results that a provider refuses, the calls with the id
// of an earlier one, and their results.
func (s *Subject) withoutRepeats() *Refused {
	refused, made := *s.RefusedBy(FindProfile(s.Mender.Pairs)), map[string]bool{}
	for i, it := range s.inArranged() {
		for n := range it.Calls {
			if at := (pairing.Occurrence{Item: i, Nth: n}); made[it.Calls[n].ID] {
				refused.Again = append(refused.Again, at)
			}
			made[it.Calls[n].ID] = true
		}
	}
	theirs := []pairing.Occurrence{}
	for _, pair := range s.StoredPairs().Pairs {
		if slices.Contains(refused.Again, pair.Call) {
			theirs = append(theirs, pair.Result)
		}
	}
	join := func(a, b []pairing.Occurrence) []pairing.Occurrence {
		all := slices.Concat(a, b)
		slices.SortFunc(all, compareOccurrences)
		return slices.Compact(all)
	}
	refused.Calls, refused.Results = join(refused.Calls, refused.Again), join(refused.Results, theirs)
	return &refused
}

// AlwaysMended reports whether every version of the runtime that may read the store has the
// sanitiser.
func (s *Subject) AlwaysMended() bool { return s.Mender != nil && s.Mender.Always }

// findHalves finds the calls whose id no result of the request has, and the results whose id no
// call has.
func (s *Subject) findHalves() *Refused {
	made, answered, before, left := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, it := range s.inArranged() {
		AddIDs(made, it)
		for n := range it.Results {
			answered[it.Results[n].CallID] = true
			left[it.Results[n].CallID]++
		}
	}
	alone := &Refused{}
	for i, it := range s.inArranged() {
		for n := range it.Calls {
			id, at := it.Calls[n].ID, pairing.Occurrence{Item: i, Nth: n}
			switch {
			case it.Calls[n].Server:
			case s.Mender.Latest && before[id]:
				alone.Again = append(alone.Again, at)
				fallthrough
			case !answered[id]:
				alone.Calls = append(alone.Calls, at)
			}
			before[id] = true
		}
		for n := range it.Results {
			id := it.Results[n].CallID
			left[id]--
			if !it.Results[n].Server && (!s.Mender.KeepsResults && !made[id] || s.Mender.Latest && left[id] > 0) {
				alone.Results = append(alone.Results, pairing.Occurrence{Item: i, Nth: n})
			}
		}
	}
	return alone
}

// inArranged yields the items of the messages that Arranged lists.
func (s *Subject) inArranged() iter.Seq2[int, *session.Item] {
	return func(yield func(int, *session.Item) bool) {
		for _, m := range s.ArrangedMessages() {
			for _, i := range m.Items {
				if !yield(i, &s.Items[i]) {
					return
				}
			}
		}
	}
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

func (s *Subject) newReading(profile *Profile, strict bool) *reading {
	r := &reading{
		Subject: s, positional: profile.isPositional(), strict: strict,
		Refused: Refused{Repeated: map[pairing.Occurrence]bool{}},
		unnamed: map[pairing.Occurrence]pairing.Occurrence{},
		inside:  map[pairing.Occurrence]pairing.Occurrence{},
		settled: map[pairing.Occurrence]bool{},
		moved:   map[pairing.Occurrence]bool{},
		seen:    map[string]bool{},
	}
	for _, pair := range s.StoredPairs().Pairs {
		switch {
		case s.last: // by their ids alone
		case pair.Place == pairing.Late && (s.gathers || s.isHoisted(pair)):
			r.moved[pair.Result], r.settled[pair.Call] = true, true
		case pair.Place == pairing.Inside:
			r.inside[pair.Result] = pair.Call
			r.settled[pair.Call] = !strict
		case s.CallAt(pair.Call).ID != s.ResultAt(pair.Result).CallID:
			r.unnamed[pair.Result] = pair.Call
		}
	}
	for _, e := range s.StoredPairs().Extras {
		r.moved[e.Result] = !s.last && s.isReplaced(s.StoredPairs(), e)
	}
	return r
}

// isHoisted reports whether the runtime puts a late result before what parts it from its call.
func (s *Subject) isHoisted(pair pairing.Pair) bool {
	return s.Mender != nil && s.Mender.Hoists && !slices.ContainsFunc(s.Items[pair.Call.Item+1:pair.Result.Item], func(it session.Item) bool {
		return it.OnWire() && it.Role == session.Assistant
	})
}

// readMessage takes in the next message. Results in a user's or a tool's message answer
// what stands before it; what an assistant's message holds belongs to its calls.
func (r *reading) readMessage(m *Sent) {
	it := &r.Items[m.Items[0]]
	if it.IsAnswer() {
		r.answerOpenCalls(m, it)
	}
	if r.positional && (!it.IsAnswer() || pairing.EndsGroup(it)) {
		r.closeOpenCalls()
	}
	var calls []pairing.Occurrence
	for _, item := range m.Items {
		for n := range r.Items[item].Calls {
			c := &r.Items[item].Calls[n]
			if at := (pairing.Occurrence{Item: item, Nth: n}); !c.Server {
				r.seen[c.ID] = true
				if !r.settled[at] {
					calls = append(calls, at)
				}
			}
		}
	}
	r.open = slices.Insert(r.open, 0, calls...)
	if !it.IsAnswer() {
		r.answerOpenCalls(m, it)
	}
}

// answerOpenCalls gives the results of a message to the open calls.
func (r *reading) answerOpenCalls(m *Sent, it *session.Item) {
	for _, at := range m.Results {
		if _, inside := r.inside[at]; inside || r.moved[at] || r.ResultAt(at).Server {
			continue
		}
		first := slices.IndexFunc(r.open, func(call pairing.Occurrence) bool { return r.isAnswerTo(at, call) })
		if first >= 0 && (!r.positional || it.IsAnswer()) {
			r.open = slices.Delete(r.open, first, first+1)
			continue
		}
		r.Results = append(r.Results, at)
		r.Repeated[at] = first < 0 && r.seen[r.ResultAt(at).CallID]
	}
}

// isAnswerTo reports whether the result is one of the call.
func (r *reading) isAnswerTo(result, call pairing.Occurrence) bool {
	if named, alone := r.unnamed[result]; alone {
		return named == call
	}
	return r.ResultAt(result).CallID == r.CallAt(call).ID
}

// closeOpenCalls ends the run of results: the provider looks no further for those of the
// open calls.
func (r *reading) closeOpenCalls() {
	r.Calls, r.open = append(r.Calls, r.open...), r.open[:0]
	clear(r.seen)
}

// addInnerResults adds the results within messages of the assistant that are refused
// although their calls are answered elsewhere: with the others, the refused call
// says it all.
func (r *reading) addInnerResults() {
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

// occurrencesFrom are the occurrences of a sorted list that are not before another.
func occurrencesFrom(list []pairing.Occurrence, from pairing.Occurrence) []pairing.Occurrence {
	i, _ := slices.BinarySearchFunc(list, from, compareOccurrences)
	return list[i:]
}

// Objection is what a provider refuses about the calls or a result of one item of a
// request, in the order of the request.
type Objection struct {
	Item   int
	IDs    []string // of the calls that have no result, or of the result
	Error  string   // in the provider's words; "" where the number of the message is not known
	Told   string   // the same as findings have it, which do not count the results of a message
	Mended bool     // the runtime's sanitiser sends something else
}

// Objections lists what the provider refuses of the calls and results of the next
// request.
func (s *Subject) Objections(profile *Profile) []Objection {
	if stop := s.stopObjection(); stop != nil {
		return stop
	}
	refused := s.RefusedBy(profile)
	if len(refused.Calls)+len(refused.Results) == 0 {
		return nil
	}
	var list []Objection
	calls, results := byItem(refused.Calls), map[pairing.Occurrence]bool{}
	for _, at := range refused.Results {
		results[at] = true
	}
	sanitised := s.SanitisedParts()
	mended := func(among []pairing.Occurrence, at pairing.Occurrence) bool {
		_, found := slices.BinarySearchFunc(among, at, compareOccurrences)
		return found
	}
	numbers, message, blocks := s.NumberMessages(profile), -1, 0 // blocks counts the results of the message so far
	for k, m := range s.ArrangedMessages() {
		number := numbers[k]
		if number < 0 {
			continue
		}
		if number != message {
			message, blocks = number, 0
		}
		for _, i := range m.Items {
			var open []string
			all := true
			for _, n := range calls[i] {
				id, mends := s.Items[i].Calls[n].ID, mended(sanitised.Calls, pairing.Occurrence{Item: i, Nth: n})
				if mends && s.StandsIn(id) {
					continue
				}
				open, all = append(open, id), all && mends
			}
			if delete(calls, i); open != nil {
				text := s.UnansweredError(profile, number, open)
				list = append(list, Objection{i, open, text, text, all})
			}
		}
		for n, at := range m.Results {
			if results[at] {
				id, repeated := s.ResultAt(at).CallID, refused.Repeated[at]
				other := repeated && s.SendsLatest() // it leaves out the one before
				list = append(list, Objection{
					at.Item, []string{id}, s.SurplusError(profile, number, blocks+n, id, repeated), s.SurplusError(profile, number, 0, id, repeated), other || mended(sanitised.Results, at),
				})
			}
		}
		blocks += len(m.Results)
	}
	if s.sketched {
		for n := range list {
			list[n].Error, list[n].Told = "", ""
		}
	}
	return list
}

// stopObjection is what a runtime itself objects to, at the last item; nil where it goes on.
func (s *Subject) stopObjection() []Objection {
	stops := s.StopReason()
	for i := len(s.Items) - 1; i >= s.Start && stops != ""; i-- {
		if it := &s.Items[i]; it.OnWire() {
			return []Objection{{Item: i, IDs: []string{it.Results[0].CallID}, Error: stops, Told: stops}}
		}
	}
	return nil
}

// byItem groups occurrences by their item.
func byItem(list []pairing.Occurrence) map[int][]int {
	items := map[int][]int{}
	for _, at := range list {
		items[at.Item] = append(items[at.Item], at.Nth)
	}
	return items
}
