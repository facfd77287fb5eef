package kagenttest

import "time"

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

// serve lets an agent answer a request.
func (w *world) serve(s *sess, t Turn, caller *visit, at time.Time) *visit {
	v := w.begin(s, t, caller, at)
	for _, batch := range t.Work {
		if v.state = w.batch(v, batch); v.state != completed {
			w.flush(v)
			return v
		}
	}
	v.answer = t.Answer
	if t.Approval != NotAsked {
		w.ask(v)
		return v
	}
	w.conclude(v)
	return v
}

// begin writes what comes before the agent's own events.
func (w *world) begin(s *sess, t Turn, caller *visit, at time.Time) *visit {
	v := &visit{session: s, dialect: w.writer(s.agent), task: w.uuid(), root: s.id, began: at, now: at, invocations: []string{"e-" + w.uuid()}}
	if t.Writer != "" {
		v.dialect = t.Writer
	}
	if caller != nil {
		v.root = caller.root
	}
	w.visits = append(w.visits, v)
	s.began(at, t.Ask)
	request := event{author: "user", parts: []part{{text: t.Ask}}}
	if v.dialect == Python && w.form.Generation != V05 {
		headers := object{{"headers", w.headers(v, caller)}}
		if w.form.markers() {
			w.mark(v, headers)
		} else {
			request.delta = headers
		}
	}
	w.emit(v, request)
	return v
}

// conclude writes the answer.
func (w *world) conclude(v *visit) {
	w.emit(v, event{author: v.session.agent, parts: []part{{text: v.answer}}})
	v.state = completed
	w.flush(v)
}

// emit writes an event of the current invocation.
func (w *world) emit(v *visit, e event) *event {
	v.now = w.tick(v.now)
	e.at, e.id, e.invocation = v.now, w.uuid(), v.invocations[len(v.invocations)-1]
	v.log = append(v.log, &e)
	switch v.dialect {
	case LangGraph, CrewAI:
	case OpenAI:
		v.pending = append(v.pending, e.items()...)
		if e.author == "user" {
			w.flush(v)
		}
	default:
		w.add(v, e.id, e.text(v.dialect))
	}
	v.session.touch(v.now)
	return &e
}

// flush stores the items that came since the last time: the package for the OpenAI
// Agents SDK does so at the start and at the end of a run.
func (w *world) flush(v *visit) {
	if len(v.pending) > 0 {
		w.add(v, w.uuid(), wrapper(v.now, v.pending))
	}
	v.pending = nil
}

// mark writes the event with the headers that the Python runtime puts before a
// request.
func (w *world) mark(v *visit, headers object) {
	v.now = w.tick(v.now)
	e := event{id: w.uuid(), invocation: "header_update", author: "system", at: v.now, delta: headers}
	v.marker = e.id
	w.rows = append(w.rows, row{e.id, v.session, v.now, e.text(Python)})
	v.session.touch(v.now)
}

func (w *world) add(v *visit, id, document string) {
	v.rows = append(v.rows, id)
	w.rows = append(w.rows, row{id, v.session, v.now, document})
}

func (s *sess) touch(at time.Time) {
	if at.After(s.updated) {
		s.updated = at
	}
}

// Secret is in every header of a request that is stored, and in nothing else.
const Secret = "eyJhbGciOiJSUzI1NiJ9.c2VjcmV0.c2lnbmF0dXJl"

// headers are those of the request, with the names in lower case as ASGI has them.
func (w *world) headers(v *visit, caller *visit) object {
	o := object{
		{"host", "agent.kagent:8080"}, {"authorization", "Bearer " + Secret}, {"content-type", "application/json"}, {"x-user-id", v.session.user},
	}
	if caller != nil && w.form.Generation == Current {
		o = append(o, object{
			{"x-kagent-source", "agent"}, {"x-kagent-parent-context-id", caller.session.id}, {"x-kagent-root-context-id", caller.root},
		}...)
	}
	return o
}
