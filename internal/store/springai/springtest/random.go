package springtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Random writes a session of some turns, with calls, sub-agents on branches,
// compactions and damage: processes that died, filters and retries.
func Random(db *DB, session string, seed uint64, turns int) {
	newGenerator(db, session, seed).write(turns)
}

// Whole writes a session as the library does where nothing goes wrong: sub-agents run
// where no call of the root waits, and compactions of every strategy between turns.
func Whole(db *DB, session string, seed uint64, turns int) {
	g := newGenerator(db, session, seed)
	g.whole = true
	g.write(turns)
}

// Interrupted writes a whole session whose process died in the last turn, when a tool
// of the root or of a sub-agent ran; perhaps the user went on.
func Interrupted(db *DB, session string, seed uint64, turns int) {
	g := newGenerator(db, session, seed)
	g.whole = true
	g.write(turns)
	g.append(User(g.text("question")), Calling(g.id(), g.id()).On([]string{"", "orch"}[g.rng.IntN(2)]))
	if g.chance(50) {
		g.append(User(g.text("question")))
	}
}

type generator struct {
	log
	rng   *rand.Rand
	calls int
	whole bool // nothing goes wrong
}

func newGenerator(db *DB, session string, seed uint64) *generator {
	db.Session(session)
	return &generator{rng: rand.New(rand.NewPCG(seed, 0x5e55)), log: log{db: db, session: session}}
}

func (g *generator) write(turns int) {
	for range turns {
		g.append(User(g.text("question")))
		g.answer("")
		if g.chance(30) {
			g.answer("orch")
			if g.whole {
				g.append(Assistant(g.text("answer")))
			}
		}
		if g.chance(25) {
			g.cut()
		}
	}
}

// fails is the chance of something that goes wrong.
func (g *generator) fails(percent int) bool { return g.chance(percent) && !g.whole }

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

// text is a text that differs from nearly all others.
func (g *generator) text(what string) string { return fmt.Sprint(what, " ", g.rng.IntN(10_000)) }

// answer writes what an agent on a branch says until it is done, or its process
// dies.
func (g *generator) answer(branch string) {
	for range g.rng.IntN(3) {
		ids := []string{g.id()}
		for g.chance(40) {
			ids = append(ids, g.id())
		}
		call := Calling(ids...).On(branch)
		if g.fails(10) {
			call.Calls[0].Arguments = "{\"location\": "
		}
		g.append(call)
		if g.fails(12) {
			return // the process died
		}
		if g.fails(15) && branch == "" {
			g.answer("orch.researcher")
		}
		switch {
		case g.fails(8): // a filter kept the responses out
		case g.fails(10):
			g.append(Responding(append(ids, "c0")...).On(branch))
		case g.fails(10):
			g.append(Responding(ids[1:]...).On(branch))
		default:
			g.append(Responding(ids...).On(branch))
		}
	}
	last := Assistant(g.text("answer")).On(branch)
	switch {
	case g.fails(10):
		last.Text = [...]string{"", " ", "\n"}[g.rng.IntN(3)]
	case g.chance(10):
		last.Metadata = `{"agent":"researcher","latencyMs":12}`
	}
	g.append(last)
	if g.fails(8) {
		g.append(last) // a retry
	}
}

// id is a new id of a call; some providers give one twice.
func (g *generator) id() string {
	if g.calls == 0 || !g.fails(6) {
		g.calls++
	}
	return fmt.Sprint("c", g.calls)
}

// cut compacts at the start of a turn, or behind the last, where a window is smaller
// than a turn; or at anything where the advisor runs within a turn. A summary takes
// the place of what is archived, or nothing does.
func (g *generator) cut() {
	starts := slices.DeleteFunc(indexes(len(g.active)), func(i int) bool {
		return i == 0 || g.active[i].Type != "USER" || g.active[i].Synthetic || g.active[i].Branch != ""
	})
	if g.chance(20) {
		starts = append(starts, len(g.active))
	}
	if g.fails(20) {
		starts = indexes(len(g.active))
	}
	switch {
	case len(starts) == 0:
	case g.chance(40):
		g.window(starts[g.rng.IntN(len(starts))])
	default:
		g.compact(starts[g.rng.IntN(len(starts))], g.text("summary"))
	}
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
