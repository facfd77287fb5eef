package adktest

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Damages are what happens to sessions, by name. Each changes a session in one
// place; one that finds no place for it leaves the session as it is. The events
// must have times of their own, as Random gives them.
var Damages = map[string]func(rng *rand.Rand, s *Session){
	"an answer is lost":           loseAnswer,
	"the answers are lost":        loseAnswers,
	"a call is lost":              loseCall,
	"an answer comes late":        delayAnswer,
	"an answer comes twice":       repeatAnswer,
	"an answer to nothing":        strayAnswer,
	"a call has the id of others": reuseID,
	"a text is blank":             blankText,
	"events have one time":        tie,
	"the writer moves":            changeZone,
}

// pick is a random event for which the condition holds, -1 when there is none.
func pick(rng *rand.Rand, s *Session, holds func(e *Event) bool) int {
	var all []int
	for i := range s.Events {
		if holds(&s.Events[i]) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[rng.IntN(len(all))]
}

func (e *Event) asks() bool {
	return slices.ContainsFunc(e.Parts, func(p Part) bool { return p.Call != nil })
}

func (s *Session) drop(i int) { s.Events = slices.Delete(s.Events, i, i+1) }

func loseAnswer(rng *rand.Rand, s *Session) {
	i := pick(rng, s, func(e *Event) bool { return e.answers() && len(e.Parts) > 1 })
	if i >= 0 {
		n := rng.IntN(len(s.Events[i].Parts))
		s.Events[i].Parts = slices.Delete(slices.Clone(s.Events[i].Parts), n, n+1)
	}
}

func loseAnswers(rng *rand.Rand, s *Session) {
	if i := pick(rng, s, (*Event).answers); i >= 0 {
		s.drop(i)
	}
}

func loseCall(rng *rand.Rand, s *Session) {
	if i := pick(rng, s, (*Event).asks); i >= 0 {
		s.drop(i)
	}
}

// delayAnswer lets an answer come behind what was said next.
func delayAnswer(rng *rand.Rand, s *Session) {
	i := pick(rng, s, (*Event).answers)
	if i < 0 || i+1 >= len(s.Events) {
		return
	}
	to := i + 1 + rng.IntN(min(4, len(s.Events)-i-1))
	late := s.Events[i]
	late.Time = s.Events[to].Time.Add(10 * time.Microsecond)
	s.Events = slices.Insert(slices.Delete(s.Events, i, i+1), to, late)
}

func repeatAnswer(rng *rand.Rand, s *Session) {
	if i := pick(rng, s, (*Event).answers); i >= 0 {
		again := s.Events[i]
		again.ID += "-again"
		again.Time = again.Time.Add(10 * time.Microsecond)
		s.Events = slices.Insert(s.Events, i+1, again)
	}
}

func strayAnswer(rng *rand.Rand, s *Session) {
	i := rng.IntN(len(s.Events))
	stray := s.Events[i]
	stray.ID, stray.Author, stray.Branch = stray.ID+"-stray", "user", ""
	stray.Time = stray.Time.Add(20 * time.Microsecond)
	stray.Parts = []Part{Answers("adk-none", "look", `{"result":"?"}`)}
	s.Events = slices.Insert(s.Events, i+1, stray)
}

// reuseID gives all calls and answers of one tool call another one's id.
func reuseID(rng *rand.Rand, s *Session) {
	a, b := pick(rng, s, (*Event).asks), pick(rng, s, (*Event).asks)
	if a < 0 || a == b {
		return
	}
	was, now := s.Events[a].Parts[0].Call.ID, s.Events[b].Parts[0].Call.ID
	for i := range s.Events {
		parts := slices.Clone(s.Events[i].Parts)
		for n, p := range parts {
			if p.Call != nil && p.Call.ID == was {
				parts[n] = Calls(now, p.Call.Name, p.Call.Args)
			}
			if p.Response != nil && p.Response.ID == was {
				parts[n] = Answers(now, p.Response.Name, p.Response.Value)
			}
		}
		s.Events[i].Parts = parts
	}
}

func blankText(rng *rand.Rand, s *Session) {
	i := pick(rng, s, func(e *Event) bool { return !e.asks() && !e.answers() })
	if i >= 0 {
		s.Events[i].Parts = []Part{Text(" ")}
	}
}

// tie gives an event the time of the one before it.
func tie(rng *rand.Rand, s *Session) {
	if i := rng.IntN(len(s.Events)); i > 0 {
		s.Events[i].Time = s.Events[i-1].Time
	}
}

// changeZone lets the writer move to another zone in the middle of the session.
func changeZone(rng *rand.Rand, s *Session) {
	for i := rng.IntN(len(s.Events)); i < len(s.Events); i++ {
		s.Events[i].Time = s.Events[i].Time.In(time.FixedZone("", 3600))
	}
}
