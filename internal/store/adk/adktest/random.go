package adktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// agent is a node of a tree of agents: one that speaks, or one that runs others.
type agent struct {
	name     string
	kind     agentKind
	children []*agent
	lane     *lane
}

type agentKind int

const (
	speaker agentKind = iota
	sequence
	parallel
	loop
)

var kindNames = [...]string{"a", "seq", "par", "loop"}

// lane is one side of a parallel agent, nil where nothing runs side by side.
// Whoever is in it sees what is in the lanes around it, and nothing beside.
type lane struct {
	around *lane
	group  string // the parallel agent
	name   string // of the agent that it runs on this side
}

// branchLabel is the branch that runtimes give to what is in the lane.
func (l *lane) branchLabel() string {
	if l == nil {
		return ""
	}
	label := l.group + "." + l.name
	if l.around != nil {
		label = l.around.branchLabel() + "." + label
	}
	return label
}

// Random is a session of a random tree of agents: sequences, groups side by side
// and loops of agents that speak and call tools, over several turns. The size is
// about the number of agents. Every event has an id and a time, so that events may
// be written in another order.
func Random(seed uint64, size int) Session { return numberEvents(seed, drawDrafts(seed, size)) }

// drawDrafts draws the events of a random session before they are numbered.
func drawDrafts(seed uint64, size int) (events []draft) {
	r := run{rng: rand.New(rand.NewPCG(seed, 2)), agents: max(size, 1)}
	root := r.drawTree(nil, 0)
	for range 1 + r.rng.IntN(3) {
		events = append(events, r.drawTurn(root)...)
	}
	return events
}

// drawTurn draws what a question of the user leads to.
func (r *run) drawTurn(root *agent) []draft {
	r.turns++
	r.invocation = invocationID(r.turns)
	asks := draft{Event: Event{Author: "user", Invocation: r.invocation, Parts: []Part{Text(fmt.Sprint("question ", r.turns-1))}}}
	return append([]draft{asks}, r.drawEvents(root)...)
}

func invocationID(n int) string { return fmt.Sprintf("e-00000000-0000-4000-8000-%012d", n) }

type run struct {
	rng        *rand.Rand
	agents     int // that may still be made
	named      int
	calls      int
	invocation string
	turns      int
	later      *later // what the generation can hold besides, nil for nothing
}

// draft is an event, and where the agent stands that stored it.
type draft struct {
	Event
	lane  *lane
	asked bool // a model said it
}

func (r *run) drawTree(around *lane, depth int) *agent {
	a := &agent{kind: agentKind(r.rng.IntN(4)), lane: around}
	if depth == 0 && a.kind == speaker {
		a.kind = sequence
	}
	if depth > 4 || r.agents <= 0 {
		a.kind = speaker
	}
	// Names of which one is the beginning of another are what tells readers apart.
	r.named++
	a.name = fmt.Sprint(kindNames[a.kind], r.named)
	r.agents--
	if a.kind == speaker {
		return a
	}
	for range 1 + r.rng.IntN(3) {
		inner := around
		if a.kind == parallel {
			inner = &lane{around: around, group: a.name}
		}
		child := r.drawTree(inner, depth+1)
		if a.kind == parallel {
			inner.name = child.name
		}
		a.children = append(a.children, child)
	}
	return a
}

// drawEvents draws what an agent stores in one run.
func (r *run) drawEvents(a *agent) []draft {
	if a.kind == speaker {
		return r.drawSpeech(a)
	}
	rounds := 1
	if a.kind == loop {
		rounds += r.rng.IntN(2)
	}
	var lists [][]draft
	for range rounds {
		for _, child := range a.children {
			lists = append(lists, r.drawEvents(child))
		}
	}
	if a.kind == parallel {
		return builder.Interleave(r.rng, lists)
	}
	return slices.Concat(lists...)
}

// drawSpeech draws one run of an agent that speaks, sometimes with a tool.
func (r *run) drawSpeech(a *agent) []draft {
	var list []draft
	say := func(asked bool, parts ...Part) {
		list = append(list, draft{Event{Author: a.name, Invocation: r.invocation, Branch: a.lane.branchLabel(), Parts: parts}, a.lane, asked})
	}
	switch r.rng.IntN(3) {
	case 0:
		var questions, answers []Part
		for range 1 + r.rng.IntN(2) {
			r.calls++
			id := fmt.Sprintf("adk-%08d", r.calls)
			questions = append(questions, Calls(id, "look", fmt.Sprintf(`{"n":%d}`, r.calls)))
			answers = append(answers, Answers(id, "look", fmt.Sprintf(`{"result":"seen %d"}`, r.calls)))
		}
		say(true, questions...)
		say(false, answers...)
	case 1:
		if r.later != nil {
			return r.speakLater(a)
		}
	}
	say(true, Text(a.name+" says"))
	return list
}

// numberEvents is a session of these events, with ids and times.
func numberEvents(seed uint64, events []draft) Session {
	s := Session{ID: fmt.Sprintf("random-%d", seed)}
	for i, d := range events {
		d.ID, d.Time = fmt.Sprintf("%s-%04d", s.ID, i), momentOf(i)
		s.Events = append(s.Events, d.Event)
	}
	return s
}

// later is what a random session holds besides agents and tools that answer at once.
type later struct {
	of      Generation
	answers [][]Event // of each call that somebody is still to answer, what that leads to
	from    int       // the first event that no summary stands for
}

// Random is a healthy session of random agents with all that the generation can hold:
// tools that answer later, tools that a person has to agree to, and summaries.
func (g Generation) Random(seed uint64, size int) Session {
	r := run{rng: rand.New(rand.NewPCG(seed, 2)), agents: max(size, 1), later: &later{of: g}}
	root := r.drawTree(nil, 0)
	var events []draft
	for range 1 + r.rng.IntN(4) {
		events = append(events, r.answerOpen()...)
		events = append(events, r.drawTurn(root)...)
		events = append(events, r.drawSummary(len(events))...)
	}
	return numberEvents(seed, events)
}

// speakLater is one run of an agent whose tool does not answer at once: a long-running
// one, or one that needs a confirmation.
func (r *run) speakLater(a *agent) []draft {
	says := func(parts ...Part) Event {
		return Event{Author: a.name, Invocation: r.invocation, Branch: a.lane.branchLabel(), Parts: parts}
	}
	text := says(Text(a.name + " says"))
	var list []Event
	switch {
	case r.later.of == P0First: // it has no place for such calls
		list = []Event{text}
	case r.rng.IntN(2) == 0, r.later.of == J1 && a.lane != nil: // on a branch nobody answers: see expect
		list = append(r.drawLongRunning(a, says), text)
	default:
		list = r.drawConfirmed(a, says)
	}
	drafts := make([]draft, len(list))
	for i, e := range list {
		drafts[i] = draft{e, a.lane, true}
	}
	return drafts
}

func (r *run) nextID(kind string) string {
	r.calls++
	return fmt.Sprintf("adk-%s-%08d", kind, r.calls)
}

// drawLongRunning draws a call with a response for now, sometimes beside one of another tool.
func (r *run) drawLongRunning(a *agent, says func(...Part) Event) []Event {
	id := r.nextID("slow")
	calls, answers := says(Calls(id, "approve", `{}`)), says(Answers(id, "approve", `{"status":"pending"}`))
	if r.rng.IntN(2) == 0 {
		other := r.nextID("look")
		calls.Parts, answers.Parts = append(calls.Parts, Calls(other, "look", `{}`)), append(answers.Parts, Answers(other, "look", `{"result":1}`))
	}
	calls.Waits = []string{id}
	final := Event{Author: "user", Parts: []Part{Answers(id, "approve", `{"status":"approved"}`)}}
	r.expectAnswer(a, final, says(Text(a.name+" goes on")))
	return []Event{calls, answers}
}

// drawConfirmed draws a call that a person has to agree to: adk-python stores the question
// before the response for now, adk-go behind it.
func (r *run) drawConfirmed(a *agent, says func(...Part) Event) []Event {
	id, ask := r.nextID("pay"), r.nextID("ask")
	call, refused := says(Calls(id, "pay", `{"sum":3}`)), says(Answers(id, "pay", `{"error":"the tool requires confirmation"}`))
	refused.Actions = Actions{SkipSummary: true, Confirmations: []string{id}}
	question := says(Calls(ask, "adk_request_confirmation", fmt.Sprintf(
		`{"originalFunctionCall":{"id":%q,"name":"pay","args":{"sum":3}},"toolConfirmation":{"hint":"please confirm","confirmed":false}}`, id)))
	question.Role, question.Waits = "model", []string{ask}
	agreed := Event{Author: "user", Invocation: r.invocation, Parts: []Part{Answers(ask, "adk_request_confirmation", `{"confirmed":true}`)}}
	answer := []Event{agreed, says(Answers(id, "pay", `{"result":"paid"}`)), says(Text(a.name + " goes on"))}
	if r.later.of == J1 { // which has no response for now, so that nobody goes on without the answer
		question.Role, question.Actions = "user", Actions{Confirmations: refused.Actions.Confirmations}
		return append([]Event{call, question}, answer...)
	}
	r.expectAnswer(a, answer...)
	if r.later.of.isGo() {
		return []Event{call, refused, question}
	}
	return []Event{call, question, refused}
}

// expectAnswer notes what an answer to a call will lead to. On a branch nobody answers: to
// which one the answer goes depends on the release.
func (r *run) expectAnswer(a *agent, events ...Event) {
	if a.lane == nil {
		r.later.answers = append(r.later.answers, events)
	}
}

// answerOpen is what some of the open calls lead to, each in an invocation of its own.
func (r *run) answerOpen() []draft {
	var list []draft
	var left [][]Event
	for _, answer := range r.later.answers {
		if r.rng.IntN(2) == 0 {
			left = append(left, answer)
			continue
		}
		r.turns++
		for _, e := range answer {
			e.Invocation = invocationID(r.turns)
			list = append(list, draft{Event: e})
		}
	}
	r.later.answers = left
	return list
}

// drawSummary draws a summary of what was said since the last one, sometimes, where
// adk-python makes one: no call of it is open.
func (r *run) drawSummary(events int) []draft {
	if r.later.of.isGo() || r.later.of == P0First || len(r.later.answers) > 0 || r.rng.IntN(3) > 0 {
		return nil
	}
	span := Compaction{From: momentOf(r.later.from), To: momentOf(events - 1), Text: "what was said so far"}
	r.later.from = events + 1
	return []draft{{Event: Event{Author: "user", Invocation: "c" + r.invocation, Actions: Actions{Compaction: &span}}}}
}

// momentOf is the time of the n-th event.
func momentOf(n int) time.Time { return Start.Add(time.Duration(n) * time.Millisecond) }
