package springtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Random writes a session of some turns, with calls, sub-agents on branches,
// compactions and damage: processes that died, filters and retries.
func Random(db *DB, session string, seed uint64, turns int) {
	g := generator{rng: rand.New(rand.NewPCG(seed, 0x5e55)), log: log{db: db, session: session}}
	db.Session(session)
	for range turns {
		g.append(User(g.text("question")))
		g.answer("")
		if g.chance(30) {
			g.answer("orch")
		}
		if g.chance(25) {
			g.cut()
		}
	}
}

type generator struct {
	log
	rng   *rand.Rand
	calls int
}

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
		if g.chance(10) {
			call.Calls[0].Arguments = "{\"location\": "
		}
		g.append(call)
		if g.chance(12) {
			return // the process died
		}
		if g.chance(15) && branch == "" {
			g.answer("orch.researcher")
		}
		switch {
		case g.chance(8): // a filter kept the responses out
		case g.chance(10):
			g.append(Responding(append(ids, "c0")...).On(branch))
		case g.chance(10):
			g.append(Responding(ids[1:]...).On(branch))
		default:
			g.append(Responding(ids...).On(branch))
		}
	}
	last := Assistant(g.text("answer")).On(branch)
	switch {
	case g.chance(10):
		last.Text = [...]string{"", " ", "\n"}[g.rng.IntN(3)]
	case g.chance(10):
		last.Metadata = `{"agent":"researcher","latencyMs":12}`
	}
	g.append(last)
	if g.chance(8) {
		g.append(last) // a retry
	}
}

// id is a new id of a call; some providers give one twice.
func (g *generator) id() string {
	if g.calls == 0 || !g.chance(6) {
		g.calls++
	}
	return fmt.Sprint("c", g.calls)
}

// cut compacts at the start of a turn, or of anything where the advisor runs
// within a turn.
func (g *generator) cut() {
	starts := slices.DeleteFunc(indexes(len(g.active)), func(i int) bool {
		return g.active[i].Type != "USER" || g.active[i].Synthetic || g.active[i].Branch != ""
	})
	if g.chance(20) {
		starts = indexes(len(g.active))
	}
	if len(starts) > 0 {
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
