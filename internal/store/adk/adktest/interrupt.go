package adktest

import (
	"math/rand/v2"
	"slices"
)

// Interrupted is a random session whose runtime was killed: it ends in the middle of a
// turn, long-running tools may have given no response, not even one for now, and the
// user may have gone on.
func (g Generation) Interrupted(seed uint64, size int) Session {
	s := g.Random(seed, size)
	rng := rand.New(rand.NewPCG(seed, 5))
	s.ID = "cut-" + s.ID
	if g != G1 && rng.IntN(2) == 0 { // adk-go 1 stores a response of nothing
		s.Events = unanswer(rng, s.Events)
	}
	s.Events = s.Events[:cut(rng, s.Events)]
	again := s.Events[0]
	again.ID, again.Time = s.ID+"-again", momentOf(1_000_000)
	again.Invocation = "e-00000000-0000-4000-8000-again0000000"
	switch last := &s.Events[len(s.Events)-1]; rng.IntN(3) {
	case 0:
		s.Events = append(s.Events, again)
	case 1:
		said := Event{ID: s.ID + "-said", Author: "root", Invocation: again.Invocation, Parts: []Part{Text("going on")}, Time: momentOf(1_000_001)}
		if last.Author != "user" {
			said.Author, said.Branch = last.Author, last.Branch
		}
		s.Events = append(s.Events, again, said)
	}
	return s
}

// cut is how many events are left: often it ends behind a call.
func cut(rng *rand.Rand, events []Event) int {
	var calls []int
	for i := range events {
		if events[i].asks() {
			calls = append(calls, i+1)
		}
	}
	if len(calls) > 0 && rng.IntN(4) > 0 {
		return calls[rng.IntN(len(calls))]
	}
	return 1 + rng.IntN(len(events))
}

// unanswer takes every response away that a long-running call got.
func unanswer(rng *rand.Rand, events []Event) []Event {
	var ids []string
	for i := range events {
		for _, p := range events[i].Parts {
			if p.Call != nil && slices.Contains(events[i].Waits, p.Call.ID) && p.Call.Name != "adk_request_confirmation" && rng.IntN(2) == 0 {
				ids = append(ids, p.Call.ID)
			}
		}
	}
	var left []Event
	for _, e := range events {
		parts := slices.DeleteFunc(slices.Clone(e.Parts), func(p Part) bool { return p.Response != nil && slices.Contains(ids, p.Response.ID) })
		if len(parts) > 0 || len(e.Parts) == 0 {
			e.Parts = parts
			left = append(left, e)
		}
	}
	return left
}
