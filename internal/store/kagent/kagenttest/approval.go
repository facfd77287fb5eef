package kagenttest

import (
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// gated is the tool of which a person is asked.
const gated = "k8s_apply_manifest"

// ask lets an agent call a tool that needs a person's approval.
func (w *world) ask(v *visit) {
	made := &call{w.callID(), gated, object{{"manifest", "replicas: 3"}}}
	v.gate = &question{about: made, hint: "Please approve or reject the tool call " + gated + "().", callID: w.callID()}
	questions := []question{*v.gate}
	w.emit(v, event{author: v.session.agent, parts: []part{{call: made}}})
	refused := object{{"error", "This tool call requires confirmation, please approve or reject."}}
	w.pause(v, questions, func() {
		w.emit(v, event{author: v.session.agent, parts: []part{{response: &response{made.id, gated, refused}}}, asked: questions})
	})
	v.state = inputRequired
	w.flush(v)
}

// approve lets the agent go on from there.
func (w *world) approve(v *visit, at time.Time) {
	w.resume(v, []question{*v.gate}, at)
	w.emit(v, event{author: v.session.agent, parts: []part{{response: &response{v.gate.about.id, gated, object{{"result", "applied"}}}}}})
	w.conclude(v)
}

// passOn makes a worker's question one of its caller's. The payload is the only
// place of the caller that names the worker's task.
func (w *world) passOn(e *errand) question {
	return question{
		about: e.made, callID: w.callID(),
		hint:    "Remote agent '" + e.Agent + "' requires approval.",
		payload: object{{"task_id", e.child.task}, {"context_id", e.child.session.id}, {"subagent_name", e.Agent}, {"hitl_request", object{{"tool", gated}}}},
	}
}

// pause asks a person, and writes the responses where the runtime does.
func (w *world) pause(v *visit, questions []question, respond func()) {
	if w.program.Pauses == AtResponses {
		respond()
	}
	w.confirm(v, questions)
	if w.program.Pauses == BehindQuestion {
		respond()
	}
}

// confirm writes the calls with which ADK asks a person.
func (w *world) confirm(v *visit, questions []question) {
	e := event{author: v.session.agent}
	for _, q := range questions {
		original := object{{"id", q.about.id}, {"name", q.about.name}, {"args", q.about.args}}
		asked := object{{"originalFunctionCall", original}, {"toolConfirmation", q.tool()}}
		e.parts = append(e.parts, part{call: &call{q.callID, confirmation, asked}})
		e.waits = append(e.waits, q.callID)
	}
	w.emit(v, e)
}

// hesitation is how long a person takes.
const hesitation = 20 * time.Second

// resume writes a person's answer. adk-go 1.x begins another invocation with it.
func (w *world) resume(v *visit, questions []question, at time.Time) {
	v.now = at
	if v.dialect == Go1 {
		v.invocations = append(v.invocations, "e-"+builder.UUID(w.rng))
	}
	e := event{author: "user"}
	for _, q := range questions {
		e.parts = append(e.parts, part{response: &response{q.callID, confirmation, q.answer(v.dialect)}})
	}
	w.emit(v, e)
}

// answer is what a runtime makes of a person's agreement: with what the question
// handed on, in Python as JSON in a text (_hitl.py of kagent-adk).
func (q question) answer(d Dialect) object {
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
