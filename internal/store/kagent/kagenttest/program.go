package kagenttest

import (
	"cmp"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// Program is what happens in an installation.
type Program struct {
	Name          string
	Sharing       Sharing
	Pauses        Pauses
	Conversations []Conversation
	Writers       map[string]Dialect // of agents that do not write as the form says
	Elsewhere     []string           // agents that another installation runs: nothing of them is stored

	// After are statements that are run when all is written: deletions and damage.
	After func(w *Written) []string
}

// Sharing says which calls of a worker get one session.
type Sharing string

// PerRequest is what the Python runtime does without isolateSessions, PerPod what the
// Go runtime does; PerCall is isolateSessions.
const (
	PerRequest Sharing = ""
	PerPod     Sharing = "per pod"
	PerCall    Sharing = "per call"
)

// Pauses says what becomes of the responses that stand for the answer of a person, and
// of those beside them, when a person is asked.
type Pauses string

// AtResponses is what adk-go does since 1.4: it asks behind the responses. adk-python and
// adk-go before 1.4 ask first. AtQuestion is these under kagent's executors that stop
// where the question comes (Python since 0.8.0, Go since 0.8.6), so that the responses
// are never stored; BehindQuestion is these under earlier ones.
const (
	AtResponses    Pauses = ""
	AtQuestion     Pauses = "at the question"
	BehindQuestion Pauses = "behind the question"
)

// Conversation is a session that a user has with an agent.
type Conversation struct {
	User, Agent string // admin@kagent.dev and Root when empty
	Turns       []Turn
	Beside      bool // it goes on while the one before does
}

// Turn is a request and what the agent does about it.
type Turn struct {
	Ask      string
	Work     [][]Call // batches, one behind the other
	Answer   string
	Approval Approval // of a tool that the agent calls when its work is done
	Writer   Dialect  // of this turn alone, "" for the agent's own
}

// Approval is a question to a person that stops an agent.
type Approval string

// What becomes of the question.
const (
	NotAsked Approval = ""
	Waiting  Approval = "waiting"
	Approved Approval = "approved"
)

// Call is a call that an agent makes: of its Tool, or of the worker Agent, which
// then does Work.
type Call struct {
	ID    string // one is made up when it is empty
	Tool  string
	Agent string

	Ask      string // what the worker is asked
	Answer   string
	Work     [][]Call
	Approval Approval // of a tool that the worker calls

	Error string // the worker is never reached, and the response says so
	Plain bool   // the response has the text and no session, as older Python runtimes wrote it
	Lost  bool   // the caller ends before the response is stored
}

// The agents of the scripts.
const (
	Root   = "kagent__NS__orchestrator"
	Worker = "kagent__NS__k8s_agent"
	Helm   = "kagent__NS__helm_agent"
	Istio  = "kagent__NS__istio_agent"
)

// DefaultUser is the user of conversations that name none.
const DefaultUser = "admin@kagent.dev"

// requestTurn is the turn of the worker that the call asks for.
func (c Call) requestTurn() Turn {
	return Turn{Ask: c.Ask, Work: c.Work, Answer: c.Answer, Approval: c.Approval}
}

// sessionTitle is the name that a session gets from its first request.
func sessionTitle(request string) string {
	if runes := []rune(request); len(runes) > 20 {
		return string(runes[:20]) + "..."
	}
	return request
}

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
			c.Turns = append(c.Turns, g.drawTurn())
		}
		p.Conversations = append(p.Conversations, c)
	}
	p.Pauses = [...]Pauses{AtResponses, AtQuestion, BehindQuestion}[g.IntN(3)]
	return p
}

type generator struct{ *rand.Rand }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// drawText draws one of many texts, some of which come twice.
func (g generator) drawText(what string) string {
	return fmt.Sprintf("%s %d%s", what, g.IntN(40), [...]string{"", "", " – naïve 🙂", " <b>\"x\"</b> & \\\n", " of all clusters that there are"}[g.IntN(5)])
}

func (g generator) drawTurn() Turn {
	t := Turn{Ask: g.drawText("question"), Answer: g.drawText("answer"), Work: g.drawWork(Root)}
	if g.chance(6) {
		t.Approval = [...]Approval{NotAsked, Waiting, Approved}[g.IntN(3)]
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

func (g generator) drawWork(agent string) [][]Call {
	var work [][]Call
	for range g.IntN(3) {
		var batch []Call
		for range 1 + g.IntN(most[agent]) {
			batch = append(batch, g.drawCall(agent))
		}
		work = append(work, batch)
	}
	return work
}

func (g generator) drawCall(caller string) Call {
	if g.chance(35) {
		return Call{Tool: "k8s_get_resources", Answer: g.drawText("found"), Lost: g.chance(3)}
	}
	team := teams[caller]
	c := Call{
		Agent: team[g.IntN(len(team))], Ask: g.drawText("request"), Answer: g.drawText("result"), Lost: g.chance(3), Plain: g.chance(5),
	}
	switch {
	case g.chance(6):
		c.Error = g.drawText("failed")
	case c.Agent == Istio: // it calls nobody, and may have no events
	case caller == Root && g.chance(8):
		c.Approval = [...]Approval{NotAsked, Waiting, Approved}[g.IntN(3)]
	default:
		c.Work = g.drawWork(c.Agent)
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

// visit is one request to an agent: a task, and one or two invocations.
type visit struct {
	session *sess
	dialect Dialect
	task    string
	root    string // the session in which a user began it all

	invocations []string
	began, now  time.Time
	state       string // that of the task
	answer      string
	log         []*event // what was said, stored or not
	pending     list     // items that are not stored yet
	rows        []string // ids of the stored events, without marker
	marker      string
	gate        *question // what a person is asked before it goes on
}

// The states of tasks, as they were first written.
const (
	completed     = "completed"
	canceled      = "canceled"
	inputRequired = "input-required"
)

// serveRequest lets an agent answer a request.
func (w *world) serveRequest(s *sess, t Turn, caller *visit, at time.Time) *visit {
	v := w.beginVisit(s, t, caller, at)
	for _, batch := range t.Work {
		if v.state = w.playBatch(v, batch); v.state != completed {
			w.flushItems(v)
			return v
		}
	}
	v.answer = t.Answer
	if t.Approval != NotAsked {
		w.askApproval(v)
		return v
	}
	w.writeAnswer(v)
	return v
}

// beginVisit writes what comes before the agent's own events.
func (w *world) beginVisit(s *sess, t Turn, caller *visit, at time.Time) *visit {
	v := &visit{session: s, dialect: w.dialectOf(s.Agent), task: builder.UUID(w.rng), root: s.ID, began: at, now: at, invocations: []string{"e-" + builder.UUID(w.rng)}}
	v.dialect = cmp.Or(t.Writer, v.dialect)
	if caller != nil {
		v.root = caller.root
	}
	w.visits, s.Tasks = append(w.visits, v), append(s.Tasks, v.task)
	if s.created.IsZero() || at.Before(s.created) { // it has its name from its first request
		s.created, s.name = at, sessionTitle(t.Ask)
	}
	request := event{author: "user", parts: []part{{text: t.Ask}}}
	if v.dialect == Python && w.form.Generation != V05 {
		headers := object{{"headers", w.requestHeaders(v, caller)}}
		if w.form.hasMarkers() {
			w.writeMarker(v, headers)
		} else {
			request.delta = headers
		}
	}
	w.emitEvent(v, request)
	return v
}

// writeAnswer writes the answer.
func (w *world) writeAnswer(v *visit) {
	w.emitEvent(v, event{author: v.session.Agent, parts: []part{{text: v.answer}}})
	v.state = completed
	w.flushItems(v)
}

// emitEvent writes an event of the current invocation.
func (w *world) emitEvent(v *visit, e event) *event {
	w.advanceTime(v)
	e.at, e.id, e.invocation = v.now, builder.UUID(w.rng), v.invocations[len(v.invocations)-1]
	v.log = append(v.log, &e)
	switch v.dialect {
	case LangGraph, CrewAI:
	case OpenAI:
		v.pending = append(v.pending, e.inputItems()...)
		if e.author == "user" {
			w.flushItems(v)
		}
	default:
		w.addRow(v, e.id, e.documentText(v.dialect))
	}
	return &e
}

// flushItems stores the items that came since the last time: the package for the OpenAI
// Agents SDK does so at the start and at the end of a run.
func (w *world) flushItems(v *visit) {
	if len(v.pending) > 0 {
		w.addRow(v, builder.UUID(w.rng), wrapItems(v.now, v.pending))
	}
	v.pending = nil
}

// writeMarker writes the event with the headers that the Python runtime puts before a
// request.
func (w *world) writeMarker(v *visit, headers object) {
	w.advanceTime(v)
	e := event{id: builder.UUID(w.rng), invocation: "header_update", author: "system", at: v.now, delta: headers}
	v.marker = e.id
	w.rows = append(w.rows, row{e.id, v.session, v.now, e.documentText(Python)})
}

func (w *world) addRow(v *visit, id, document string) {
	v.rows = append(v.rows, id)
	w.rows = append(w.rows, row{id, v.session, v.now, document})
}

// Secret is in every header of a request that is stored, and in nothing else.
const Secret = "eyJhbGciOiJSUzI1NiJ9.c2VjcmV0.c2lnbmF0dXJl"

// requestHeaders are those of the request, with the names in lower case as ASGI has them.
func (w *world) requestHeaders(v *visit, caller *visit) object {
	o := object{
		{"host", "agent.kagent:8080"}, {"authorization", "Bearer " + Secret}, {"content-type", "application/json"}, {"x-user-id", v.session.User},
	}
	if caller != nil && w.form.Generation == Current {
		o = append(o, object{
			{"x-kagent-source", "agent"}, {"x-kagent-parent-context-id", caller.session.ID}, {"x-kagent-root-context-id", caller.root},
		}...)
	}
	return o
}

// gated is the tool of which a person is asked.
const gated = "k8s_apply_manifest"

// askApproval lets an agent call a tool that needs a person's approval.
func (w *world) askApproval(v *visit) {
	made := &call{w.callID(), gated, object{{"manifest", "replicas: 3"}}}
	v.gate = &question{about: made, hint: "Please approve or reject the tool call " + gated + "().", callID: w.callID()}
	questions := []question{*v.gate}
	w.emitEvent(v, event{author: v.session.Agent, parts: []part{{call: made}}})
	refused := object{{"error", "This tool call requires confirmation, please approve or reject."}}
	w.pauseTask(v, questions, func() {
		w.emitEvent(v, event{author: v.session.Agent, parts: []part{{response: &response{made.id, gated, refused}}}, asked: questions})
	})
	v.state = inputRequired
	w.flushItems(v)
}

// giveApproval lets the agent go on from there.
func (w *world) giveApproval(v *visit, at time.Time) {
	w.resumeTask(v, []question{*v.gate}, at)
	w.emitEvent(v, event{author: v.session.Agent, parts: []part{{response: &response{v.gate.about.id, gated, object{{"result", "applied"}}}}}})
	w.writeAnswer(v)
}

// passOn makes a worker's question one of its caller's. The payload is the only
// place of the caller that names the worker's task.
func (w *world) passOn(e *errand) question {
	return question{
		about: e.made, callID: w.callID(),
		hint:    "Remote agent '" + e.Agent + "' requires approval.",
		payload: object{{"task_id", e.child.task}, {"context_id", e.child.session.ID}, {"subagent_name", e.Agent}, {"hitl_request", object{{"tool", gated}}}},
	}
}

// pauseTask asks a person, and writes the responses where the runtime does.
func (w *world) pauseTask(v *visit, questions []question, respond func()) {
	if w.program.Pauses == AtResponses {
		respond()
	}
	w.emitQuestions(v, questions)
	if w.program.Pauses == BehindQuestion {
		respond()
	}
}

// emitQuestions writes the calls with which ADK asks a person.
func (w *world) emitQuestions(v *visit, questions []question) {
	e := event{author: v.session.Agent}
	for _, q := range questions {
		original := object{{"id", q.about.id}, {"name", q.about.name}, {"args", q.about.args}}
		asked := object{{"originalFunctionCall", original}, {"toolConfirmation", q.askedObject()}}
		e.parts = append(e.parts, part{call: &call{q.callID, confirmation, asked}})
		e.waits = append(e.waits, q.callID)
	}
	w.emitEvent(v, e)
}

// hesitation is how long a person takes.
const hesitation = 20 * time.Second

// resumeTask writes a person's answer. adk-go 1.x begins another invocation with it.
func (w *world) resumeTask(v *visit, questions []question, at time.Time) {
	v.now = at
	if v.dialect == Go1 {
		v.invocations = append(v.invocations, "e-"+builder.UUID(w.rng))
	}
	e := event{author: "user"}
	for _, q := range questions {
		e.parts = append(e.parts, part{response: &response{q.callID, confirmation, q.answerObject(v.dialect)}})
	}
	w.emitEvent(v, e)
}

// answerObject is what a runtime makes of a person's agreement: with what the question
// handed on, in Python as JSON in a text (_hitl.py of kagent-adk).
func (q question) answerObject(d Dialect) object {
	given := object{{"confirmed", true}}
	if q.payload != nil {
		said := object{{"approved", true}}
		given = append(given, member{"payload", append(slices.Clone(q.payload), member{"hitl_response", said})})
	}
	if d == Python {
		return object{{"response", builder.Style{}.Text(given)}}
	}
	return given
}

//go:embed scripts.json
var scripts []byte

// Scripts are the programs of scripts.json, the cases of kagent's issues; the member
// about says what each is. What is run after the writing is a template for Written.
func Scripts() []Program {
	var list []Program
	for _, p := range builder.FromJSON[[]struct {
		Program
		After []string
	}](scripts) {
		if p.After != nil {
			p.Program.After = func(w *Written) (list []string) {
				for _, s := range p.After {
					var b strings.Builder
					if err := template.Must(template.New("").Parse(s)).Execute(&b, w); err != nil {
						panic(err)
					}
					list = append(list, b.String())
				}
				return list
			}
		}
		list = append(list, p.Program)
	}
	return list
}

// Script is the script of a name. There must be one.
func Script(name string) Program {
	list := Scripts()
	return list[slices.IndexFunc(list, func(p Program) bool { return p.Name == name })]
}
