package kagenttest

import (
	"slices"
	"time"
)

// errand is a call while it is under way.
type errand struct {
	Call
	made   *call
	truth  *Worked // nil for a tool
	child  *visit  // nil for a tool, and where nothing is stored of the worker
	answer object
}

// batch makes the calls of one event, lets the workers run side by side, and writes
// the responses in one event. It returns the state that the task has then.
func (w *world) batch(v *visit, calls []Call) string {
	batch := w.call(v, calls)
	start, end := v.now, v.now
	for i, e := range batch {
		w.work(v, e, start.Add(time.Duration(i)*2*time.Millisecond))
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
	respond := func() { w.respond(v, answers, questions) }
	switch {
	case lost:
		respond()
		return canceled
	case len(questions) == 0:
		respond()
		return completed
	}
	w.pause(v, questions, respond)
	if w.program.Pauses == AtQuestion {
		unnamed(answers)
	}
	if open {
		return inputRequired
	}
	w.resume(v, questions, v.now.Add(hesitation))
	waited := slices.DeleteFunc(batch, func(e *errand) bool { return e.truth == nil || !e.truth.Open })
	for _, e := range waited {
		w.finish(v, e)
	}
	w.respond(v, waited, nil)
	return completed
}

// unnamed says of calls that no response names their sessions.
func unnamed(batch []*errand) {
	for _, e := range batch {
		if e.truth != nil {
			e.truth.Named = false
		}
	}
}

// call writes the event that makes the calls.
func (w *world) call(v *visit, calls []Call) []*errand {
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
			e.truth = &Worked{User: v.session.user, Parent: v.session.id, ParentTask: v.task, Call: c.ID, Agent: c.Agent}
			w.calls = append(w.calls, e.truth)
			if c.Error == "" {
				e.truth.Child = w.context(v, c.Agent)
			}
			if w.stamps(v) {
				p.stamp = e.truth.Child
			}
		}
		batch, parts = append(batch, e), append(parts, p)
	}
	id := w.emit(v, event{author: v.session.agent, parts: parts}).id
	for _, e := range batch {
		if e.truth != nil {
			e.truth.CallEvent = id
		}
	}
	return batch
}

// stamps reports whether the caller's task names the sessions of workers with the
// calls: Python does, from v0.8.0-beta9 to v0.10.0-rc3.
func (w *world) stamps(v *visit) bool {
	return v.dialect == Python && w.form.Generation == Current && w.form.Shape == Legacy && w.program.Sharing != PerCall
}

// work lets the worker run, and makes the response.
func (w *world) work(v *visit, e *errand, at time.Time) {
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
		e.child = w.serve(w.session(e.truth.Child, v.session.user, e.Agent, v), e.request(), v, at)
		e.truth.told(e.child)
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

// finish lets a worker go on whose question was answered.
func (w *world) finish(v *visit, e *errand) {
	w.approve(e.child, v.now)
	e.truth.told(e.child)
	e.answer, e.truth.Named = object{{"result", e.Answer}, {"subagent_session_id", e.truth.Child}}, true
	v.now = e.child.now
}

// told takes over what is known of the worker's run.
func (c *Worked) told(v *visit) {
	c.Task, c.Marker, c.Open = v.task, v.marker, v.state == inputRequired
	c.Events = slices.Clone(v.rows)
	c.Invocations = nil
	if v.dialect.events() && v.dialect != OpenAI {
		c.Invocations = slices.Clone(v.invocations)
	}
}

// respond writes the event with the responses to calls, if there are any.
func (w *world) respond(v *visit, batch []*errand, questions []question) {
	if len(batch) == 0 {
		return
	}
	var parts []part
	for _, e := range batch {
		parts = append(parts, part{response: &response{e.made.id, e.made.name, e.answer}})
	}
	id := w.emit(v, event{author: v.session.agent, parts: parts, asked: questions}).id
	for _, e := range batch {
		if e.truth != nil && v.dialect.events() && v.dialect != OpenAI {
			e.truth.Responses = append(e.truth.Responses, id)
		}
	}
}
