// Package kagenttest builds databases as kagent's controller and its agents' runtimes
// write them, for tests.
//
// A Program says who asks whom for what: conversations of agents that call tools and
// other agents, in batches. Build plays it and writes the rows that come of it, of
// concurrent runs in the order of their times, in one of the Forms that are known;
// Written is the truth about it, to compare with. The scripts are the cases of
// kagent's issues; Random draws a program. Nothing here reads the clock or the
// system's randomness: the same calls give the same database.
//
// What the tables and documents look like is said in docs/stores/kagent.md. The names
// in events are those of adk-python's pydantic models and of the Go types of adk-go
// 1.4.0 and 2.2.0.
package kagenttest

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// Build plays the program and writes a new database of what comes of it.
func (p Program) Build(path string, form Form) (*Written, error) {
	w := playProgram(p, form)
	truth := w.buildTruth()
	err := builder.Create(path, form.Generation.schemaStatements(), func(db *builder.DB) {
		w.storeSessions(db)
		for _, r := range w.rows {
			db.Insert("event", object{
				{"id", r.id}, {"session_id", r.session.ID}, {"user_id", r.session.User},
				{"created_at", w.formatTime(r.at)}, {"updated_at", w.formatTime(r.at)}, {"data", w.columnData(r.document)},
			})
		}
		w.storeTasks(db)
		for n, v := range w.visits {
			w.storeState(db, n, v)
		}
		w.storeAgents(db)
		if p.After != nil {
			for _, statement := range p.After(truth) {
				db.Exec(statement)
			}
		}
	})
	return truth, err
}

func (w *world) storeSessions(db *builder.DB) {
	for _, s := range w.inTime() {
		row := object{
			{"id", s.ID}, {"user_id", s.User}, {"agent_id", s.Agent}, {"created_at", w.formatTime(s.created)}, {"updated_at", w.formatTime(s.updated)},
		}
		if w.dialectOf(s.Agent) != OpenAI { // whose package creates sessions without a name
			row = append(row, member{"name", s.name})
		}
		if s.Delegated && w.form.Generation == Current {
			row = append(row, member{"source", "agent"})
		}
		db.Insert("session", row)
	}
}

func (w *world) storeTasks(db *builder.DB) {
	for _, v := range slices.SortedStableFunc(slices.Values(w.visits), func(a, b *visit) int { return a.began.Compare(b.began) }) {
		row := object{
			{"id", v.task}, {"session_id", v.session.ID}, {"created_at", w.formatTime(v.began)}, {"updated_at", w.formatTime(v.now)},
			{"data", w.columnData(w.taskDocument(v))},
		}
		if w.form.Generation == Current {
			row = append(row, member{"user_id", v.session.User}, member{"protocol_version", builder.OrNil(string(w.form.Shape))})
		}
		db.Insert("task", row)
	}
}

// storeState writes what runtimes without events keep, one state for each run.
func (w *world) storeState(db *builder.DB, n int, v *visit) {
	saved := object{
		{"user_id", v.session.User}, {"thread_id", v.session.ID}, {"created_at", w.formatTime(v.now)}, {"updated_at", w.formatTime(v.now)},
	}
	switch v.dialect {
	case LangGraph:
		saved = append(saved, object{{"checkpoint_ns", ""}, {"checkpoint_id", fmt.Sprintf("1f0c-%04d", n)}}...)
		db.Insert("lg_checkpoint", append(slices.Clone(saved), object{
			{"metadata", `{"source":"loop","step":1}`}, {"checkpoint", "gqF2BKJpZA=="}, {"checkpoint_type", "msgpack"},
		}...))
		db.Insert("lg_checkpoint_write", append(saved, object{
			{"write_idx", 0}, {"value", "kA=="}, {"value_type", "msgpack"}, {"channel", "messages"}, {"task_id", v.task},
		}...))
	case CrewAI:
		db.Insert("crewai_flow_state", append(saved, object{{"method_name", fmt.Sprint("step", n)}, {"state_data", "{}"}}...))
	}
}

func (w *world) storeAgents(db *builder.DB) {
	agents := map[string]bool{}
	for _, s := range w.sessions {
		agents[s.Agent] = true
	}
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		row := object{{"id", id}, {"created_at", w.formatTime(Start)}, {"updated_at", w.formatTime(Start)}, {"type", "Declarative"}, {"config", "{}"}}
		if w.form.Generation == Current {
			row = append(row, member{"workload_type", "deployment"})
		}
		db.Insert("agent", row)
	}
}

// columnData is a document as the column has it.
func (w *world) columnData(document string) string {
	if w.form.Quoted {
		return asGo.Text(document)
	}
	return document
}

func (w *world) inTime() []*sess {
	return slices.SortedStableFunc(slices.Values(w.sessions), func(a, b *sess) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.User, b.User))
	})
}

// errand is a call while it is under way.
type errand struct {
	Call
	made   *call
	truth  *Worked // nil for a tool
	child  *visit  // nil for a tool, and where nothing is stored of the worker
	answer object
}

// playBatch makes the calls of one event, lets the workers run side by side, and writes
// the responses in one event. It returns the state that the task has then.
func (w *world) playBatch(v *visit, calls []Call) string {
	batch := w.emitCalls(v, calls)
	start, end := v.now, v.now
	for i, e := range batch {
		w.runWorker(v, e, start.Add(time.Duration(i)*2*time.Millisecond))
		if e.child != nil && e.child.now.After(end) {
			end = e.child.now
		}
	}
	v.now = end
	var questions []question
	var answers []*errand
	lost, open := false, false
	for _, e := range batch {
		if e.Lost {
			lost = true
			continue
		}
		answers = append(answers, e)
		if e.child != nil && e.child.state == inputRequired {
			questions = append(questions, w.passOn(e))
			open = open || e.Approval != Approved
		}
	}
	respond := func() { w.emitResponses(v, answers, questions) }
	switch {
	case lost:
		respond()
		return canceled
	case len(questions) == 0:
		respond()
		return completed
	}
	w.pauseTask(v, questions, respond)
	for _, e := range answers {
		if e.truth != nil && w.program.Pauses == AtQuestion { // no response is stored
			e.truth.Named = false
		}
	}
	if open {
		return inputRequired
	}
	w.resumeTask(v, questions, v.now.Add(hesitation))
	waited := slices.DeleteFunc(batch, func(e *errand) bool { return e.truth == nil || !e.truth.Open })
	for _, e := range waited {
		w.finishWorker(v, e)
	}
	w.emitResponses(v, waited, nil)
	return completed
}

// emitCalls writes the event that makes the calls.
func (w *world) emitCalls(v *visit, calls []Call) []*errand {
	var batch []*errand
	var parts []part
	for _, c := range calls {
		if c.ID == "" {
			c.ID = w.callID()
		}
		e := &errand{Call: c, made: &call{c.ID, c.Tool, object{{"namespace", "default"}}}, answer: object{{"result", c.Answer}}}
		p := part{call: e.made}
		if c.Agent != "" {
			e.made.name, e.made.args = c.Agent, object{{"request", c.Ask}}
			e.truth = &Worked{User: v.session.User, Parent: v.session.ID, ParentTask: v.task, Call: c.ID, Agent: c.Agent}
			w.calls = append(w.calls, e.truth)
			if c.Error == "" {
				e.truth.Child = w.contextID(v, c.Agent)
			}
			if w.hasStamps(v) {
				p.stamp = e.truth.Child
			}
		}
		batch, parts = append(batch, e), append(parts, p)
	}
	id := w.emitEvent(v, event{author: v.session.Agent, parts: parts}).id
	for _, e := range batch {
		if e.truth != nil {
			e.truth.CallEvent = id
		}
	}
	return batch
}

// hasStamps reports whether the caller's task names the sessions of workers with the
// calls: Python does, from v0.8.0-beta9 to v0.10.0-rc3.
func (w *world) hasStamps(v *visit) bool {
	return v.dialect == Python && w.form.Generation == Current && w.form.Shape == Legacy && w.program.Sharing != PerCall
}

// runWorker lets the worker run, and makes the response.
func (w *world) runWorker(v *visit, e *errand, at time.Time) {
	switch {
	case e.truth == nil:
		return
	case e.Error != "" && e.Plain:
		e.answer = object{{"result", e.Error}}
		return
	case e.Error != "":
		e.answer = object{{"error", e.Error}}
		return
	}
	name := member{"subagent_session_id", e.truth.Child}
	if !slices.Contains(w.program.Elsewhere, e.Agent) {
		e.child = w.serveRequest(w.ensureSession(e.truth.Child, v.session.User, e.Agent, v), e.requestTurn(), v, at)
		e.truth.takeRun(e.child)
	}
	switch {
	case e.child != nil && e.child.state == inputRequired:
		e.answer = object{{"status", "pending"}, {"waiting_for", "subagent_approval"}, {"subagent", e.Agent}, name}
	case e.Plain:
	default:
		e.answer = append(e.answer, name, member{"kagent_usage_metadata", object{{"totalTokenCount", 40 + len(e.Answer)}}})
	}
	e.truth.Named = !e.Plain && !e.Lost
}

// finishWorker lets a worker go on whose question was answered.
func (w *world) finishWorker(v *visit, e *errand) {
	w.giveApproval(e.child, v.now)
	e.truth.takeRun(e.child)
	e.answer, e.truth.Named = object{{"result", e.Answer}, {"subagent_session_id", e.truth.Child}}, true
	v.now = e.child.now
}

// takeRun takes over what is known of the worker's run.
func (c *Worked) takeRun(v *visit) {
	c.Task, c.Marker, c.Open = v.task, v.marker, v.state == inputRequired
	c.Events = slices.Clone(v.rows)
	c.Invocations = nil
	if v.dialect.hasEvents() && v.dialect != OpenAI {
		c.Invocations = slices.Clone(v.invocations)
	}
}

// emitResponses writes the event with the responses to calls, if there are any.
func (w *world) emitResponses(v *visit, batch []*errand, questions []question) {
	if len(batch) == 0 {
		return
	}
	var parts []part
	for _, e := range batch {
		parts = append(parts, part{response: &response{e.made.id, e.made.name, e.answer}})
	}
	id := w.emitEvent(v, event{author: v.session.Agent, parts: parts, asked: questions}).id
	for _, e := range batch {
		if e.truth != nil && v.dialect.hasEvents() && v.dialect != OpenAI {
			e.truth.Responses = append(e.truth.Responses, id)
		}
	}
}

// Start is when the first request of a program comes.
var Start = time.Date(2026, 8, 3, 9, 30, 0, 0, time.UTC)

// world is an installation while a program is played.
type world struct {
	program Program
	form    Form
	rng     *rand.Rand
	taken   map[int64]bool // microseconds that a row has already

	sessions []*sess
	shared   map[string]string // ids of sessions by what shares them
	visits   []*visit
	rows     []row
	calls    []*Worked
}

// sess is a session in the making.
type sess struct {
	Session
	name             string
	created, updated time.Time
}

// row is an event as it is stored.
type row struct {
	id       string
	session  *sess
	at       time.Time
	document string
}

func playProgram(p Program, form Form) *world {
	w := &world{
		program: p, form: form, rng: rand.New(rand.NewPCG(0x6b61, 0x67656e74)),
		taken: map[int64]bool{}, shared: map[string]string{},
	}
	began, ended := Start, Start
	for i, c := range p.Conversations {
		switch {
		case i > 0 && c.Beside:
			began = began.Add(13 * time.Millisecond)
		case i > 0:
			began = ended.Add(time.Minute)
		}
		if end := w.playConversation(c, began); end.After(ended) {
			ended = end
		}
	}
	return w
}

// playConversation plays a conversation and returns when it ended.
func (w *world) playConversation(c Conversation, at time.Time) time.Time {
	user, agent, id := cmp.Or(c.User, DefaultUser), cmp.Or(c.Agent, Root), builder.UUID(w.rng)
	for _, turn := range c.Turns {
		v := w.serveRequest(w.ensureSession(id, user, agent, nil), turn, nil, at)
		if v.gate != nil && turn.Approval == Approved {
			w.giveApproval(v, v.now.Add(hesitation))
		}
		at = v.now.Add(30 * time.Second)
	}
	return at
}

// ensureSession is that of an agent for a user, a new one where there is none.
func (w *world) ensureSession(id, user, agent string, caller *visit) *sess {
	i := slices.IndexFunc(w.sessions, func(s *sess) bool { return s.ID == id && s.User == user })
	if i < 0 {
		i, w.sessions = len(w.sessions), append(w.sessions, &sess{Session: Session{ID: id, User: user, Agent: agent, Delegated: caller != nil}})
	}
	return w.sessions[i]
}

// contextID is the id of the session that a caller's tool takes for a worker.
func (w *world) contextID(caller *visit, agent string) string {
	var sharing string
	switch w.program.Sharing {
	case PerCall:
		return builder.UUID(w.rng)
	case PerPod:
		sharing = caller.session.Agent
	default:
		sharing = caller.task
	}
	key := sharing + " " + agent
	if w.shared[key] == "" {
		w.shared[key] = builder.UUID(w.rng)
	}
	return w.shared[key]
}

func (w *world) dialectOf(agent string) Dialect {
	if d, ok := w.program.Writers[agent]; ok {
		return d
	}
	return w.form.Dialect
}

// advanceTime is when the next row of a visit is written: no two rows share a microsecond, and
// some times have no fraction to speak of.
func (w *world) advanceTime(v *visit) {
	v.now = v.now.Add(time.Duration(40_000_000 + w.rng.IntN(120_000_000)))
	if w.rng.IntN(8) == 0 {
		v.now = v.now.Truncate(10 * time.Millisecond)
	}
	for w.taken[v.now.UnixMicro()] {
		v.now = v.now.Add(time.Microsecond)
	}
	w.taken[v.now.UnixMicro()] = true
	if v.now.After(v.session.updated) {
		v.session.updated = v.now
	}
}

func (w *world) formatTime(t time.Time) string { return t.UTC().Format(string(w.form.Times)) }

func (w *world) callID() string { return fmt.Sprintf("call_%016x", w.rng.Uint64()) }

// buildTruth builds the truth about what was played.
func (w *world) buildTruth() *Written {
	slices.SortStableFunc(w.rows, func(a, b row) int { return a.at.Compare(b.at) })
	for _, r := range w.rows {
		r.session.Events = append(r.session.Events, r.id)
	}
	truth := &Written{}
	for _, s := range w.inTime() {
		truth.Sessions = append(truth.Sessions, s.Session)
	}
	for _, c := range w.calls {
		truth.Calls = append(truth.Calls, *c)
	}
	return truth
}

// Generation is which tables and columns a database has: the sections of schema.sql up
// to the one of its name.
type Generation string

// The generations. Current has the columns of PostgreSQL's migrations up to
// v0.10.0, as SQLite would have them.
const (
	V05     Generation = "v0.5.0"
	V07     Generation = "v0.7.19"
	Current Generation = "current"
)

//go:embed schema.sql
var schemaSQL string

func (g Generation) schemaStatements() []string {
	names := []string{string(V05), string(V07), string(Current)}
	return builder.StatementsOf(builder.ParseSections(schemaSQL), names[:1+slices.Index(names, string(g))]...)
}

// Written is the truth about a database: what Build wrote before Program.After.
type Written struct {
	Sessions []Session // in the order in which they began
	Calls    []Worked  // of workers, in the order in which they were made
}

// Session is a row of session.
type Session struct {
	ID, User, Agent string
	Delegated       bool // an agent's call started it
	Tasks           []string
	Events          []string // in the order of their times
}

// Worked is a call of a worker and everything that came of it.
type Worked struct {
	User        string
	Parent      string // the caller's session
	ParentTask  string
	Call        string
	Agent       string
	CallEvent   string   // the event that makes the call
	Responses   []string // the events that answer it
	Child       string   // the worker's session, "" when the worker was never reached
	Named       bool     // a response names Child
	Task        string   // the worker's
	Invocations []string // the worker's: two when a runtime begins another one after an approval
	Marker      string   // the event with the headers of the request, where there is one
	Events      []string // the worker's, without Marker
	Open        bool     // it waits for somebody
}

// Roots are the sessions that users began.
func (w *Written) Roots() []Session {
	return slices.DeleteFunc(slices.Clone(w.Sessions), func(s Session) bool { return s.Delegated })
}
