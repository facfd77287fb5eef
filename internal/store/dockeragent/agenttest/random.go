package agenttest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// deepest is how many delegations may be open in a random program.
const deepest = 4

// team are the agents of random programs. There are enough for every agent
// that waits for a child at the deepest place and some more.
var team = []string{"root", "worker", "Coding agent", "alpha", "beta", "researcher", "agent_1", "agent_10"}

// Team lists the agents of random programs, to give them models.
func Team() []string { return slices.Clone(team) }

// Shapes are what a random program may hold besides what every version of the
// runtime does.
type Shapes struct {
	Skills     bool
	Background bool
	Parallel   bool // call ids never repeat in such programs
	// Whole: nobody dies, fails or ends without an answer.
	Whole bool
}

// Random draws a program of about size answers; the same arguments give the
// same program. An agent that waits for a child is never asked by that child
// or below it: what it said there could not be told from what it says itself.
// Only the root's session is compacted.
func Random(seed uint64, size int) Program { return RandomWith(seed, size, Shapes{}) }

// RandomWith draws a program like Random, in which other shapes occur, too. A
// skill runs under its caller's name. Agents that work at the same time have
// different names.
func RandomWith(seed uint64, size int, shapes Shapes) Program {
	rng := rand.New(rand.NewPCG(seed, 0x5e55))
	g := &generator{rng: rng, left: size, shapes: shapes, countIDs: rng.IntN(4) == 0 && !shapes.Parallel}
	root := &scope{agent: team[0]}
	p := Program{Title: fmt.Sprintf("random %d", seed), Agent: root.agent}
	for len(p.Turns) == 0 || g.left > 0 {
		turn := Turn{User: g.drawText(), Resumed: len(p.Turns) > 0 && (g.dead || g.chance(20))}
		if turn.Resumed {
			root.agent = p.Agent
		}
		g.dying, g.dead = !shapes.Whole && g.chance(12), false
		turn.Steps = g.drawSteps(root)
		if !g.dead && g.chance(6) {
			turn.Compact, turn.Keep = g.drawSummary()
		}
		p.Turns = append(p.Turns, turn)
		if g.dead && g.chance(60) {
			break
		}
	}
	return p
}

// generator draws the parts of a program.
type generator struct {
	rng      *rand.Rand
	left     int // answers still to draw
	shapes   Shapes
	countIDs bool // call ids count from 1 in every session, as with some providers
	lastID   int
	given    []given
	dying    bool // the process may die in this turn
	dead     bool
}

// given is a task that can be given again, word for word.
type given struct {
	task   *Task
	agents []string // everybody who speaks in it
	height int      // how many delegations it nests, itself included
}

// scope is what the generator knows of the session that it draws answers for.
type scope struct {
	depth   int
	agent   string   // who speaks
	waiting []string // the agents that wait for this session
	beside  []string // of a parallel batch: the agents of the calls before
	apart   bool     // a parallel batch is being drawn
	calls   int
	seen    []string // everybody who spoke here or below
	height  int      // of the highest task given here
}

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

// drawSteps draws the answers until a session has nothing more to say.
func (g *generator) drawSteps(s *scope) []Step {
	var steps []Step
	for n := g.rng.IntN(4); n > 0 && g.left > 0; n-- {
		s.seen = append(s.seen, s.agent)
		if g.dying && g.chance(20) {
			g.dead = true
			return append(steps, g.drawCut(Killed))
		}
		steps = append(steps, g.drawWorking(s))
		if g.dead {
			return steps
		}
	}
	s.seen = append(s.seen, s.agent)
	return append(steps, g.drawEnding(s))
}

// drawWorking draws an answer with calls.
func (g *generator) drawWorking(s *scope) Step {
	step := g.drawAnswer(65)
	opener := s.agent
	dying := g.dying
	step.Parallel = g.shapes.Parallel && g.chance(60)
	s.apart, s.beside, g.dying = step.Parallel, nil, g.dying && !step.Parallel
	for n := 1 + g.rng.IntN(3); n > 0; n-- {
		step.Calls = append(step.Calls, g.drawCall(s, opener))
	}
	s.apart, s.beside, g.dying = false, nil, dying
	if s.depth == 0 && g.chance(4) {
		step.Summary, step.Keep = g.drawSummary()
	}
	return step
}

// drawSummary draws the text of a compaction, and how many messages it keeps: mostly
// none, as where all of them fit into what it could keep.
func (g *generator) drawSummary() (text string, keep int) {
	text = "What was said so far: " + g.drawText()
	if g.chance(40) {
		keep = 1 + g.rng.IntN(6)
	}
	return text, keep
}

// drawEnding draws the last answer of a session.
func (g *generator) drawEnding(s *scope) Step {
	failed, silent := 12, 10
	switch {
	case g.shapes.Whole:
		failed, silent = 0, 0
	case s.depth == 0:
		failed, silent = 3, 3
	}
	switch {
	case g.chance(failed):
		step := g.drawCut(Failed)
		step.Error = "all models failed: 529 overloaded"
		return step
	case g.chance(silent):
		g.left--
		return Step{Reasoning: g.drawText()}
	}
	return g.drawAnswer(100)
}

// drawAnswer draws an answer that has text in so many of a hundred cases.
func (g *generator) drawAnswer(withText int) Step {
	g.left--
	var step Step
	if g.chance(withText) {
		step.Text = g.drawText()
	}
	if g.chance(20) {
		step.Reasoning = g.drawText()
	}
	if g.chance(50) {
		step.Usage = &Usage{InputTokens: g.rng.Int64N(9000), OutputTokens: g.rng.Int64N(900), CachedInputTokens: g.rng.Int64N(9000)}
	}
	return step
}

// drawCut draws an answer that stops before it is complete, perhaps before its
// first word.
func (g *generator) drawCut(end End) Step {
	step := Step{End: end}
	g.left--
	if g.chance(50) {
		step.Text = g.drawText()
	}
	return step
}

// drawCall draws one call of the opener's batch.
func (g *generator) drawCall(s *scope, opener string) Call {
	id := g.newID(s)
	kind := g.rng.IntN(100)
	switch {
	case g.dead: // never run
	case g.shapes.Background && g.chance(5):
		return Call{ID: id, Task: &Task{Agent: team[1], Text: g.drawText(), Background: true}}
	case kind < 35 && s.depth < deepest && g.left > 0:
		if task := g.drawTask(s, opener); task != nil {
			return Call{ID: id, Task: task}
		}
	case kind < 45 && !s.apart:
		if to := g.drawAgent(s, opener); to != "" {
			s.agent = to
			s.seen = append(s.seen, to)
			return Call{ID: id, To: to}
		}
	}
	call := Call{ID: id, Tool: "shell", Args: string(encodeJSON(map[string]string{"cmd": g.drawText()}))}
	if g.dying && !g.dead && g.chance(15) {
		g.dead = true
		call.Killed = true
	}
	if !g.chance(10) {
		call.Output = g.drawText()
	}
	call.IsError = g.chance(10)
	return call
}

// drawTask draws a delegation, sometimes one that was given before.
func (g *generator) drawTask(s *scope, opener string) *Task {
	waiting := slices.Concat(s.waiting, []string{opener, s.agent}, s.beside)
	if g.shapes.Skills && g.chance(30) && !slices.Contains(s.beside, s.agent) {
		return g.drawSkill(s)
	}
	if len(g.given) > 0 && !s.apart && g.chance(30) {
		again := g.given[g.rng.IntN(len(g.given))]
		if s.depth+again.height <= deepest && !slices.ContainsFunc(again.agents, func(a string) bool { return slices.Contains(waiting, a) }) {
			s.noteTask(again)
			return again.task
		}
	}
	agent := g.drawAgent(s, opener)
	if agent == "" {
		return nil
	}
	child := &scope{depth: s.depth + 1, agent: agent, waiting: waiting}
	task := &Task{Agent: agent, Text: g.drawText()}
	if g.chance(50) {
		task.ExpectedOutput = g.drawText()
	}
	task.Steps = g.drawSteps(child)
	fresh := given{task, child.seen, child.height + 1}
	s.noteTask(fresh)
	if !g.dead {
		g.given = append(g.given, fresh)
	}
	return task
}

// drawSkill draws a delegation to the agent that speaks. Whoever asked it waits for
// it there, too, but it does not wait for itself.
func (g *generator) drawSkill(s *scope) *Task {
	child := &scope{depth: s.depth + 1, agent: s.agent, waiting: slices.Concat(s.waiting, s.beside)}
	task := &Task{Skill: "commit", Text: g.drawText()}
	task.Steps = g.drawSteps(child)
	s.noteTask(given{task, child.seen, child.height + 1})
	return task
}

func (s *scope) noteTask(t given) {
	if s.apart {
		s.beside = append(s.beside, t.agents...)
	}
	s.seen = append(s.seen, t.agents...)
	s.height = max(s.height, t.height)
}

// drawAgent draws an agent that neither speaks nor waits, "" if every agent does.
func (g *generator) drawAgent(s *scope, opener string) string {
	busy := slices.Concat([]string{s.agent, opener}, s.waiting, s.beside)
	free := slices.DeleteFunc(slices.Clone(team), func(agent string) bool { return slices.Contains(busy, agent) })
	if len(free) == 0 {
		return ""
	}
	return free[g.rng.IntN(len(free))]
}

func (g *generator) newID(s *scope) string {
	s.calls++
	g.lastID++
	if g.countIDs {
		return fmt.Sprintf("call_%d", s.calls)
	}
	return fmt.Sprintf("toolu_%06d", g.lastID)
}

// texts have what JSON and terminals find difficult. Some are short, so that
// agents say the same thing now and then.
var texts = []string{
	"Done.",
	"ok",
	"Let me look at the files first.",
	"if a < b && b > c { return \"x\" }",
	"first line\nsecond line\twith a tab",
	"C:\\Users\\me\\session.db",
	"Grüße, 世界, \U0001F600 and \u2028 a line separator",
	"{\"role\":\"tool\",\"tool_call_id\":\"call_1\"}",
	"All tests pass; the change is in `internal/store`.",
}

func (g *generator) drawText() string {
	text := texts[g.rng.IntN(len(texts))]
	if g.chance(60) {
		text += fmt.Sprintf(" (%d)", g.rng.IntN(1000))
	}
	return text
}
