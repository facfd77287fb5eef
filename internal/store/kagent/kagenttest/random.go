package kagenttest

import (
	"fmt"
	"math/rand/v2"
)

// Random draws a program of some conversations: batches, workers of workers, calls
// that fail or get lost, and approvals.
func Random(seed uint64) Program {
	g := generator{rand.New(rand.NewPCG(seed, 0x6b61))}
	p := Program{Name: fmt.Sprint("random ", seed), Sharing: [...]Sharing{PerRequest, PerPod, PerCall}[g.IntN(3)], Writers: map[string]Dialect{}}
	if g.chance(15) {
		p.Writers[Istio] = [...]Dialect{OpenAI, LangGraph, CrewAI}[g.IntN(3)]
	}
	if g.chance(10) {
		p.Elsewhere = []string{Istio}
	}
	users := []string{"anna@example.com", "anna@example.com", "bert@example.com"}
	for range 1 + g.IntN(3) {
		c := Conversation{User: users[g.IntN(len(users))], Beside: g.chance(40)}
		for range 1 + g.IntN(3) {
			c.Turns = append(c.Turns, g.turn())
		}
		p.Conversations = append(p.Conversations, c)
	}
	p.Pauses = [...]Pauses{AtResponses, AtQuestion, BehindQuestion}[g.IntN(3)]
	return p
}

type generator struct{ *rand.Rand }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// text is one of many texts, some of which come twice.
func (g generator) text(what string) string {
	return fmt.Sprintf("%s %d%s", what, g.IntN(40), [...]string{"", "", " – naïve 🙂", " <b>\"x\"</b> & \\\n", " of all clusters that there are"}[g.IntN(5)])
}

func (g generator) turn() Turn {
	t := Turn{Ask: g.text("question"), Answer: g.text("answer"), Work: g.work(Root)}
	if g.chance(6) {
		t.Approval = Approval(g.IntN(3))
	}
	return t
}

// teams are the agents that an agent calls: none calls one above itself.
var teams = map[string][]string{
	Root:   {Worker, Worker, Helm},
	Worker: {Helm, Istio},
	Helm:   {Istio},
}

// most is how many calls a batch of an agent has at most.
var most = map[string]int{Root: 6, Worker: 3, Helm: 2}

func (g generator) work(agent string) [][]Call {
	var work [][]Call
	for range g.IntN(3) {
		var batch []Call
		for range 1 + g.IntN(most[agent]) {
			batch = append(batch, g.call(agent))
		}
		work = append(work, batch)
	}
	return work
}

func (g generator) call(caller string) Call {
	if g.chance(35) {
		return Call{Tool: "k8s_get_resources", Answer: g.text("found"), Lost: g.chance(3)}
	}
	team := teams[caller]
	c := Call{
		Agent: team[g.IntN(len(team))], Ask: g.text("request"), Answer: g.text("result"), Lost: g.chance(3), Plain: g.chance(5),
	}
	switch {
	case g.chance(6):
		c.Error = g.text("failed")
	case c.Agent == Istio: // it calls nobody, and may have no events
	case caller == Root && g.chance(8):
		c.Approval = Approval(g.IntN(3))
	default:
		c.Work = g.work(c.Agent)
	}
	return c
}

// Whole draws a program in which nothing is lost or fails, nobody is asked, and each call
// gets a session of its own.
func Whole(seed uint64) Program {
	p := Random(seed)
	p.Name, p.Sharing, p.Writers, p.Elsewhere = fmt.Sprint("whole ", seed), PerCall, nil, nil
	for i := range p.Conversations {
		turns := p.Conversations[i].Turns
		for j := range turns {
			turns[j].Approval, turns[j].Writer = NotAsked, ""
			wholeCalls(turns[j].Work)
		}
	}
	return p
}

func wholeCalls(work [][]Call) {
	for _, batch := range work {
		for i := range batch {
			c := &batch[i]
			c.Approval, c.Error, c.Plain, c.Lost = NotAsked, "", false, false
			wholeCalls(c.Work)
		}
	}
}
