package springtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Random writes a session of some turns, with calls, sub-agents on branches,
// compactions and damage: processes that died, filters and retries.
func Random(db *DB, session string, seed uint64, turns int) {
	newGenerator(db, session, seed).writeTurns(turns)
}

// Whole writes a session as the library does where nothing goes wrong: sub-agents run
// where no call of the root waits, and compactions of every strategy between turns.
func Whole(db *DB, session string, seed uint64, turns int) {
	g := newGenerator(db, session, seed)
	g.whole = true
	g.writeTurns(turns)
}

// Interrupted writes a whole session whose process died in the last turn, when a tool
// of the root or of a sub-agent ran; perhaps the user went on.
func Interrupted(db *DB, session string, seed uint64, turns int) {
	g := newGenerator(db, session, seed)
	g.whole = true
	g.writeTurns(turns)
	g.appendEvents(User(g.drawText("question")), Calling(g.nextID(), g.nextID()).On([]string{"", "orch"}[g.rng.IntN(2)]))
	if g.chance(50) {
		g.appendEvents(User(g.drawText("question")))
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

func (g *generator) writeTurns(turns int) {
	g.db.Batch(func() {
		for range turns {
			g.appendEvents(User(g.drawText("question")))
			g.writeAnswer("")
			if g.chance(30) {
				g.writeAnswer("orch")
				if g.whole {
					g.appendEvents(Assistant(g.drawText("answer")))
				}
			}
			if g.chance(25) {
				g.drawCompaction()
			}
		}
	})
}

// goesWrong is the chance of something that goes wrong.
func (g *generator) goesWrong(percent int) bool { return g.chance(percent) && !g.whole }

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

// drawText draws a text that differs from nearly all others.
func (g *generator) drawText(what string) string { return fmt.Sprint(what, " ", g.rng.IntN(10_000)) }

// writeAnswer writes what an agent on a branch says until it is done, or its process
// dies.
func (g *generator) writeAnswer(branch string) {
	for range g.rng.IntN(3) {
		ids := []string{g.nextID()}
		for g.chance(40) {
			ids = append(ids, g.nextID())
		}
		call := Calling(ids...).On(branch)
		if g.goesWrong(10) {
			call.Calls[0].Arguments = "{\"location\": "
		}
		g.appendEvents(call)
		if g.goesWrong(12) {
			return // the process died
		}
		if g.goesWrong(15) && branch == "" {
			g.writeAnswer("orch.researcher")
		}
		switch {
		case g.goesWrong(8): // a filter kept the responses out
		case g.goesWrong(10):
			g.appendEvents(Responding(append(ids, "c0")...).On(branch))
		case g.goesWrong(10):
			g.appendEvents(Responding(ids[1:]...).On(branch))
		default:
			g.appendEvents(Responding(ids...).On(branch))
		}
	}
	last := Assistant(g.drawText("answer")).On(branch)
	switch {
	case g.goesWrong(10):
		last.Text = [...]string{"", " ", "\n"}[g.rng.IntN(3)]
	case g.chance(10):
		last.Metadata = `{"agent":"researcher","latencyMs":12}`
	}
	g.appendEvents(last)
	if g.goesWrong(8) {
		g.appendEvents(last) // a retry
	}
}

// nextID is a new id of a call; some providers give one twice.
func (g *generator) nextID() string {
	if g.calls == 0 || !g.goesWrong(6) {
		g.calls++
	}
	return fmt.Sprint("c", g.calls)
}

// drawCompaction compacts at the start of a turn, or behind the last, where a window is smaller
// than a turn; or at anything where the advisor runs within a turn. A summary takes
// the place of what is archived, or nothing does.
func (g *generator) drawCompaction() {
	var starts, all []int
	for i, e := range g.active {
		all = append(all, i)
		if i > 0 && e.Type == "USER" && !e.Synthetic && e.Branch == "" {
			starts = append(starts, i)
		}
	}
	if g.chance(20) {
		starts = append(starts, len(g.active))
	}
	if g.goesWrong(20) {
		starts = all
	}
	switch {
	case len(starts) == 0:
	case g.chance(40):
		g.compactBefore(starts[g.rng.IntN(len(starts))])
	default:
		g.compactBefore(starts[g.rng.IntN(len(starts))], Summary(g.drawText("summary"))...)
	}
}

// Script writes one session, called "S", with a case of the notes.
type Script struct {
	Name  string
	About string
	Write func(db *DB)
}

// Build makes a file with the session of a script.
func (s Script) Build(path string, form Form) error {
	db, err := Create(path, form)
	if err != nil {
		return err
	}
	db.Session("S")
	s.Write(db)
	return db.Close()
}

// FindScript finds the script with a name. There must be one.
func FindScript(name string) Script {
	return Scripts[slices.IndexFunc(Scripts, func(s Script) bool { return s.Name == name })]
}

func appendScript(events ...Event) func(db *DB) {
	return func(db *DB) { db.Append("S", events...) }
}

// Scripts are the documentation's table of who sees what (docs/stores/spring-ai-session.md#who-sees-what), a layout after two
// compactions (docs/stores/spring-ai-session.md#the-known-ways-to-damage-a-session), and damage (docs/stores/spring-ai-session.md#the-known-ways-to-damage-a-session).
var Scripts = []Script{
	{"visibility", "the table of the documentation for a viewer on orch.researcher", appendScript(
		User("root"), Assistant("orch").On("orch"), Assistant("researcher").On("orch.researcher"), Assistant("writer").On("orch.writer"),
		Assistant("summarizer").On("orch.researcher.summarizer"))},
	{"healthy", "two turns with calls", appendScript(
		User("weather?"), Calling("c1", "c2"), Responding("c1", "c2"), Assistant("22 degrees"), User("thanks"), Assistant("you are welcome"))},
	{"f5", "m1 m2 s1 m3 m4 s2 m5 m6 after two compactions, of which the first five are archived", writeF5},
	{"G3", "the call was archived and its response came afterwards", writeG3},
	{"G5", "a message that was stored while a compaction ran stands before the summary", writeG5},
	{"G6", "the process died before the response was stored", appendScript(
		User("weather?"), Calling("c1"), User("are you there?"), Assistant("yes"))},
	{"G7", "a retry stored the same message twice", appendScript(User("hello"), Assistant("hi"), Assistant("hi"))},
	{"G10", "a filter stored only what people and the assistant say", appendScript(
		User("weather?"), Calling("c1"), Assistant("22 degrees"), User("and tomorrow?"), Calling("c2"), Assistant("18 degrees"))},
	{"G11", "an answer without text and without calls", appendScript(
		User("hello"), Event{Type: "ASSISTANT"}, User("hello?"), Assistant("hi"))},
	{"G12", "message_data is cut off", appendScript(
		User("weather?"), Calling("c1"), Event{Type: "TOOL", Data: `[{"id":"c1","name":"get_weather","respon`}, Assistant("22 degrees"))},
	{"G13", "a message type that Java does not know", appendScript(User("hello"), Event{Type: "assistant", Text: "hi"}, User("bye"), Assistant("bye"))},
	{"G14", "the column and the metadata disagree about what a compaction wrote", appendScript(
		Event{Type: "USER", Text: "hello", Metadata: `{"synthetic":true}`},
		Event{Type: "ASSISTANT", Text: "hi", Metadata: `{"synthetic":"yes"}`},
		Event{Type: "USER", Text: "bye", Metadata: `{"compactionSource":"recursive-summarization"}`}, Assistant("bye"))},
	{"G15", "a summary on a branch", writeG15},
	{"two calls open", "a process died before either response was stored", appendScript(
		User("weather?"), Calling("c1", "c2"), User("are you there?"), Assistant("yes"))},
	{"doubled response", "one TOOL row answers a call twice", appendScript(
		User("weather?"), Calling("c1"), Responding("c1", "c1"), Assistant("22 degrees"))},
	{"response elsewhere", "one TOOL row holds a response to no call", appendScript(
		User("weather?"), Calling("c1"), Responding("c1", "c9"), Assistant("22 degrees"))},
	{"same id twice", "two calls of a turn share an id", appendScript(
		User("weather?"), Calling("c1", "c1"), Responding("c1", "c1"), Assistant("22 degrees"))},
	{"arguments", "arguments that are no JSON object", appendScript(
		User("weather?"), Event{Type: "ASSISTANT", Text: " ", Calls: []Call{{"c1", "function", "get_weather", "{\"location\": \"Par"}}},
		Responding("c1"), Assistant("22 degrees"))},
	{"late response", "the response comes after the next message", appendScript(
		User("weather?"), Calling("c1"), User("are you there?"), Responding("c1"), Assistant("22 degrees"))},
	{"no Unicode", "half a character in a text and in an argument", appendScript(
		User("caf\xc3"), Event{Type: "ASSISTANT", Calls: []Call{}, Data: `[{"id":"c1","type":"function","name":"f","arguments":"{\"a\":\"\ud83d\"}"}]`},
		Event{Type: "TOOL", Data: `[{"id":"c1","name":"f","responseData":"\ud83d ok","more":[1.0,{}]}]`}, Assistant("ok"))},
}

func writeF5(db *DB) {
	l := log{db: db, session: "S"}
	compact := func(cut int, text string) { // it also archives the summary before, and its own takes one message
		for i := range l.active[:cut] {
			l.active[i].Synthetic = false
		}
		l.compactBefore(cut, Summary(text)[1])
	}
	l.appendEvents(User("m1"), Assistant("m2"), User("m3"))
	compact(2, "s1")
	l.appendEvents(Assistant("m4"), User("m5"))
	compact(3, "s2")
	l.appendEvents(Assistant("m6"))
}

func writeG3(db *DB) {
	l := log{db: db, session: "S"}
	l.appendEvents(User("weather?"), Calling("c1"))
	l.compactBefore(2, Summary("The weather was asked for.")...)
	l.appendEvents(Responding("c1"), Assistant("22 degrees"))
}

func writeG5(db *DB) {
	l := log{db: db, session: "S"}
	l.appendEvents(User("u1"), Assistant("a1"), User("u2"), Assistant("a2"))
	late := db.completeEvent(User("u3"))
	kept := append([]Event{}, l.active[2:]...)
	summary := Summary("u1 and a1")
	// The compaction has read its list; then the late message comes; then it writes.
	db.Exec("UPDATE ai_session_event SET archived = ? WHERE id in (?, ?)", db.boolColumn(true), l.active[0].ID, l.active[1].ID)
	db.Exec("DELETE FROM ai_session_event WHERE session_id = ? AND archived = ?", "S", db.boolColumn(false))
	db.writeEvent("S", late)
	for _, e := range append(summary, kept...) {
		db.writeEvent("S", db.completeEvent(e))
	}
	db.Exec("UPDATE ai_session SET event_version = event_version + 2 WHERE id = ?", "S")
}

func writeG15(db *DB) {
	l := log{db: db, session: "S"}
	l.appendEvents(User("u1"), Assistant("a1"), User("u2"), Assistant("a2"))
	l.compactBefore(2, Summary("u1 and a1")...)
	db.Exec("UPDATE ai_session_event SET branch = 'orch.writer' WHERE synthetic = ?", db.boolColumn(true))
}
