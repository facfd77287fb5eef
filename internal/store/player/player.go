// Package player runs programs of simulated agents, for tests: what a runtime that stores
// everything as it happens would write, one write after the other. An encoder of each kind
// of store puts that into its rows. A kill is a list of writes that ends early.
package player

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// Program is what happens in a session.
type Program []Turn

// Turn is what a person, or the caller of a sub-agent, asks, and the steps to its answer.
type Turn struct {
	Prompt string
	Steps  []Step
}

// Step is one answer of the model, with calls that are made before the next one. A step
// that Fails is a request that the provider refused, with this error; one that Compacts
// is a summary, from which on messages are sent.
type Step struct {
	Thoughts, Text string
	Calls          []Call
	Fails          string
	Compacts       bool
}

// Call is a call of a tool, or of a sub-agent that runs a program: its last text is the
// result then.
type Call struct {
	Tool, Args, Result string
	Failed             bool
	Child              Program
}

// Session is a session as a runtime begins it.
type Session struct {
	ID, Title     string
	Began         int64    // in seconds
	Parent        *Session // nil for a root
	Message, Call string   // those of the parent that started it
}

// Message is a message as it is stored at some moment.
type Message struct {
	ID, Role       string // user, assistant or tool
	Text, Thoughts string
	Calls          []Asked
	Answered       string // of a tool: the id of the call
	Tool           string // and its name
	Failed         bool
	Summary        bool
	Reason, Error  string // why the answer ended, "" while it is being written
	Began, Ended   int64  // in seconds
}

// Asked is a call in a message. Its arguments arrive after it began.
type Asked struct {
	ID, Tool, Args string
	Complete       bool
}

// Write is one thing that a runtime stores: a session that begins, or a message as it is
// from now on.
type Write struct {
	Session *Session
	Message *Message // nil where the session begins
}

// Play runs a program. The same seed gives the same ids, times and order of what happens
// at once.
func Play(program Program, seed uint64) []Write {
	p := player{rng: rand.New(rand.NewPCG(seed, 0x91a7e5)), seed: seed}
	root := &Session{ID: builder.UUID(p.rng), Title: fmt.Sprint("Program ", seed)}
	return p.setTimes(p.playSession(root, program))
}

type player struct {
	rng   *rand.Rand
	seed  uint64
	calls int
}

func (p *player) playSession(s *Session, program Program) []Write {
	writes := []Write{{Session: s}}
	for _, turn := range program {
		writes = append(writes, Write{s, &Message{ID: builder.UUID(p.rng), Role: "user", Text: turn.Prompt}})
		for _, step := range turn.Steps {
			writes = append(writes, p.playStep(s, &step)...)
		}
	}
	return writes
}

// playStep is an answer that grows, what its calls do, and its end.
func (p *player) playStep(s *Session, step *Step) (writes []Write) {
	m := Message{ID: builder.UUID(p.rng), Role: "assistant", Summary: step.Compacts}
	write := func() {
		now := m
		now.Calls = slices.Clone(m.Calls)
		writes = append(writes, Write{s, &now})
	}
	write()
	if m.Thoughts = step.Thoughts; m.Thoughts != "" {
		write()
	}
	if half := len(step.Text) / 2; half > 0 {
		m.Text = step.Text[:half]
		write()
	}
	m.Text = step.Text
	for i := range step.Calls {
		p.calls++
		m.Calls = append(m.Calls, Asked{ID: fmt.Sprintf("call_%d_%d", p.seed, p.calls), Tool: step.Calls[i].Tool})
		write()
		m.Calls[i].Args, m.Calls[i].Complete = step.Calls[i].Args, true
		write()
	}
	var results [][]Write
	for i := range step.Calls {
		results = append(results, p.playCall(s, &m, i, &step.Calls[i]))
	}
	writes = append(writes, builder.Interleave(p.rng, results)...)
	switch m.Reason = "end_turn"; {
	case step.Fails != "":
		m.Reason, m.Error = "error", step.Fails
	case len(step.Calls) > 0:
		m.Reason = "tool_use"
	}
	write()
	return writes
}

// playCall is the run of a call, and its result.
func (p *player) playCall(s *Session, m *Message, nth int, c *Call) (writes []Write) {
	id, result := m.Calls[nth].ID, c.Result
	if c.Child != nil {
		child := &Session{ID: builder.UUID(p.rng), Title: "New Agent Session", Parent: s, Message: m.ID, Call: id}
		writes = p.playSession(child, c.Child)
		result = writes[len(writes)-1].Message.Text
	}
	return append(writes, Write{s, &Message{
		ID: builder.UUID(p.rng), Role: "tool", Text: result, Answered: id, Tool: c.Tool, Failed: c.Failed,
	}})
}

// setTimes gives writes their times: most of a turn is in one second.
func (p *player) setTimes(writes []Write) []Write {
	now, began := int64(1795355138), map[string]int64{}
	for _, w := range writes {
		if p.rng.IntN(6) == 0 {
			now += 1 + p.rng.Int64N(3)
		}
		m := w.Message
		if m == nil {
			w.Session.Began = now
			continue
		}
		if began[m.ID] == 0 {
			began[m.ID] = now
		}
		if m.Began = began[m.ID]; m.Reason != "" {
			m.Ended = now
		}
	}
	return writes
}

// RandomProgram makes a program of so many turns, with thoughts, calls, sub-agents side by side,
// refused requests and summaries.
func RandomProgram(seed uint64, turns int) Program {
	g := generator{rand.New(rand.NewPCG(seed, 0x5eed))}
	return g.makeProgram(turns, 1)
}

type generator struct{ *rand.Rand }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) numberedText(what string) string { return fmt.Sprintf("%s %d", what, g.IntN(1e6)) }

func (g *generator) makeProgram(turns, depth int) Program {
	program := make(Program, turns)
	for i := range program {
		t := &program[i]
		t.Prompt = g.numberedText("question")
		for g.chance(60) {
			t.Steps = append(t.Steps, g.makeStep(depth))
		}
		switch {
		case depth > 0 && g.chance(10):
			t.Steps = append(t.Steps, Step{Fails: g.numberedText("refused")})
		default:
			t.Steps = append(t.Steps, Step{Text: g.numberedText("answer")})
		}
		if depth > 0 && g.chance(15) {
			t.Steps = append(t.Steps, Step{Text: g.numberedText("summary"), Compacts: true})
		}
	}
	return program
}

// makeStep makes a step with calls.
func (g *generator) makeStep(depth int) Step {
	var s Step
	if g.chance(30) {
		s.Thoughts = g.numberedText("thought")
	}
	if g.chance(70) {
		s.Text = g.numberedText("step")
	}
	for range 1 + g.IntN(3) {
		c := Call{Tool: "bash", Args: fmt.Sprintf(`{"command":"echo %d"}`, g.IntN(1e6)), Result: g.numberedText("result"), Failed: g.chance(15)}
		if depth > 0 && g.chance(30) {
			child := g.makeProgram(1, depth-1)
			c = Call{Tool: "agent", Args: fmt.Sprintf(`{"prompt":%q}`, child[0].Prompt), Child: child}
		}
		s.Calls = append(s.Calls, c)
	}
	return s
}

// PlayUntil is what a random program of a seed stores, until its runtime is killed where kill is
// not 0.
func PlayUntil(seed, kill uint64) []Write {
	writes := Play(RandomProgram(seed, 1+int(seed%4)), seed)
	if kill > 0 {
		writes = writes[:1+kill%uint64(len(writes))]
	}
	return writes
}
