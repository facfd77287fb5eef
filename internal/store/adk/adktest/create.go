// Package adktest builds the databases that Google ADK's session services write,
// of all generations that are known, from one description.
//
// A Session is described as data: scripts.json has the ones that people meet, and
// Random makes agent trees of any shape. Create writes sessions as one generation
// stores them. Nothing here reads the clock or the system's randomness: the same calls
// give the same database.
//
// The facts are those of docs/stores/adk.md: adk-python to 2.x, adk-go 1.5 and 2.2.
package adktest

import (
	"cmp"
	_ "embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/adk/members"
	"github.com/sessctl/sessctl/internal/store/builder"
)

// Start is when the first event of a session was written, unless it says so itself.
var Start = time.Date(2026, 11, 20, 21, 40, 0, 58_338_000, time.UTC)

// Create writes a new database with these sessions. The error names what the
// generation has no place for.
func Create(path string, g Generation, sessions ...Session) error {
	return builder.Create(path, g.schemaStatements(), func(db *builder.DB) {
		for _, s := range sessions {
			if lacks := g.Lacks(s); lacks != "" {
				db.Fail(fmt.Errorf("session %s: %s has no place for %s", s.ID, g, lacks))
			}
			writeSession(db, g, s.completeSession())
		}
	})
}

func writeSession(db *builder.DB, g Generation, s Session) {
	first, last := Start, Start
	if len(s.Events) > 0 {
		first, last = s.Events[0].Time, s.Events[len(s.Events)-1].Time
	}
	db.Insert(g.names("sessions", object{
		{"app_name", s.App}, {"user_id", s.User}, {"id", s.ID}, {"state", string(s.State)},
		{"create_time", g.formatTime(first.Add(-time.Millisecond))}, {"update_time", g.formatTime(last)},
	}))
	for i := range s.Events {
		row, err := g.eventRow(s, &s.Events[i])
		db.Fail(err)
		db.Insert(g.names("events", row))
	}
}

// names are how the generation calls a table and the columns of a row.
func (g Generation) names(table string, row object) (string, object) {
	if g != K1 {
		return table, row
	}
	for i := range row {
		row[i][0] = members.InCamel(row[i][0].(string))
	}
	return map[string]string{"sessions": "StorageSession", "events": "StorageEvent"}[table], row
}

// completeSession is the session with everything that its description leaves open.
func (s Session) completeSession() Session {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(s.App + "\x00" + s.User + "\x00" + s.ID)) // a hash takes everything
	rng := rand.New(rand.NewPCG(seed.Sum64(), 1))
	s.App, s.User, s.State = cmp.Or(s.App, "app"), cmp.Or(s.User, "u"), cmp.Or(s.State, "{}")
	events := make([]Event, len(s.Events))
	now := Start
	for i, e := range s.Events {
		e.ID = cmp.Or(e.ID, builder.UUID(rng))
		e.Invocation = cmp.Or(e.Invocation, invocationID(1))
		if e.Time.IsZero() {
			e.Time = now
		}
		now = e.Time.Add(time.Millisecond)
		events[i] = e
	}
	s.Events = events
	return s
}

// Generation is what a database is written as.
type Generation string

// The generations, by the names of the notes. P0First has the columns of
// adk-python 0.1, P0 those of 1.19; G1 is adk-go 1.x and G2 adk-go 2.2, which
// write the actions with the names of Go's fields and in camel case. J1 is adk-js 2.0, and K1
// adk-kotlin 0.8.
const (
	P0First Generation = "P0-first"
	P0      Generation = "P0"
	P1      Generation = "P1"
	PS      Generation = "PS"
	G1      Generation = "G1"
	G2      Generation = "G2"
	J1      Generation = "J1"
	K1      Generation = "K1"
)

// Generations are all of them.
var Generations = []Generation{P0First, P0, P1, PS, G1, G2, J1, K1}

func (g Generation) isGo() bool { return g == G1 || g == G2 }

// inJSON reports whether an event is one document instead of columns.
func (g Generation) inJSON() bool { return g == P1 || g == PS || g == J1 || g == K1 }

// Lacks says what of a session the generation has no place for, "" when it has one
// for everything.
func (g Generation) Lacks(s Session) string {
	for _, e := range s.Events {
		switch {
		case (e.Scope != "" || e.Node != "") && (!g.inJSON() && g != G2 || g == K1):
			return "isolation scopes and node paths"
		case strings.HasPrefix(e.Branch, "{") && (!g.inJSON() || g == J1 || g == K1):
			return "branches that are no path"
		case e.Actions.RewindBefore != "" && g == J1:
			return "rewind"
		case (e.Actions.Compaction != nil || e.Actions.RewindBefore != "") && g.isGo():
			return "compaction and rewind"
		case len(e.Waits) > 0 && g == P0First:
			return "long-running calls"
		case len(e.Parts) == 0 && g == P0First:
			return "events without content"
		}
	}
	return ""
}

//go:embed schema.sql
var schemaSQL string

var (
	sections = builder.ParseSections(schemaSQL)
	// tables are the sections of schema.sql that a generation has.
	tables = map[Generation][]string{
		P0First: {"python", "P0-first"}, P0: {"python", "P0", "index"}, P1: {"python", "P1", "index"},
		PS: {"PS"}, J1: {"J1"}, K1: {"K1"}, G1: {"go", "G1"}, G2: {"go", "G2"},
	}
)

func (g Generation) schemaStatements() []string { return builder.StatementsOf(sections, tables[g]...) }

// Damages are what happens to sessions, by name. Each changes a session in one
// place; one that finds no place for it leaves the session as it is. The events
// must have times of their own, as Random gives them.
var Damages = map[string]func(rng *rand.Rand, s *Session){
	"an answer is lost": damageAt(func(e *Event) bool { return e.hasResponses() && len(e.Parts) > 1 }, func(rng *rand.Rand, s *Session, i int) {
		n := rng.IntN(len(s.Events[i].Parts))
		s.Events[i].Parts = slices.Delete(slices.Clone(s.Events[i].Parts), n, n+1)
	}),
	"the answers are lost": damageAt((*Event).hasResponses, dropEvent),
	"a call is lost":       damageAt((*Event).hasCalls, dropEvent),
	"an answer comes late": damageAt((*Event).hasResponses, delayEvent),
	"an answer comes twice": damageAt((*Event).hasResponses, func(_ *rand.Rand, s *Session, i int) {
		again := s.Events[i]
		again.ID += "-again"
		again.Time = again.Time.Add(10 * time.Microsecond)
		s.Events = slices.Insert(s.Events, i+1, again)
	}),
	"an answer to nothing":        strayAnswer,
	"a call has the id of others": reuseID,
	"a text is blank": damageAt(func(e *Event) bool { return !e.hasCalls() && !e.hasResponses() }, func(_ *rand.Rand, s *Session, i int) {
		s.Events[i].Parts = []Part{Text(" ")}
	}),
	"events have one time": func(rng *rand.Rand, s *Session) {
		if i := rng.IntN(len(s.Events)); i > 0 {
			s.Events[i].Time = s.Events[i-1].Time
		}
	},
	"the writer moves": func(rng *rand.Rand, s *Session) {
		for i := rng.IntN(len(s.Events)); i < len(s.Events); i++ {
			s.Events[i].Time = s.Events[i].Time.In(time.FixedZone("", 3600))
		}
	},
}

// damageAt is a damage at a random event for which the condition holds.
func damageAt(holds func(e *Event) bool, damage func(rng *rand.Rand, s *Session, i int)) func(rng *rand.Rand, s *Session) {
	return func(rng *rand.Rand, s *Session) {
		if i := pickEvent(rng, s, holds); i >= 0 {
			damage(rng, s, i)
		}
	}
}

// pickEvent picks a random event for which the condition holds, -1 when there is none.
func pickEvent(rng *rand.Rand, s *Session, holds func(e *Event) bool) int {
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

func (e *Event) hasCalls() bool {
	return slices.ContainsFunc(e.Parts, func(p Part) bool { return p.Call != nil })
}

func dropEvent(_ *rand.Rand, s *Session, i int) { s.Events = slices.Delete(s.Events, i, i+1) }

// delayEvent lets an answer come behind what was said next.
func delayEvent(rng *rand.Rand, s *Session, i int) {
	if i+1 >= len(s.Events) {
		return
	}
	to := i + 1 + rng.IntN(min(4, len(s.Events)-i-1))
	late := s.Events[i]
	late.Time = s.Events[to].Time.Add(10 * time.Microsecond)
	s.Events = slices.Insert(slices.Delete(s.Events, i, i+1), to, late)
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
	a, b := pickEvent(rng, s, (*Event).hasCalls), pickEvent(rng, s, (*Event).hasCalls)
	if a < 0 || a == b {
		return
	}
	was, now := s.Events[a].Parts[0].Call.ID, s.Events[b].Parts[0].Call.ID
	for i := range s.Events {
		parts := slices.Clone(s.Events[i].Parts)
		for n, p := range parts {
			if p.Call != nil && p.Call.ID == was {
				parts[n] = Calls(now, p.Call.Name, string(p.Call.Args))
			}
			if p.Response != nil && p.Response.ID == was {
				parts[n] = Answers(now, p.Response.Name, string(p.Response.Value))
			}
		}
		s.Events[i].Parts = parts
	}
}
