package kagenttest

import (
	"strings"
	"time"
)

// document is the A2A task of a request.
func (w *world) document(v *visit) string {
	d := taskWriter{visit: v, v1: w.form.Shape == V1}
	status, history, artifacts := d.status(), d.history(), d.artifacts()
	o := object{{"artifacts", artifacts}, {"contextId", v.session.id}, {"history", history}, {"id", v.task}}
	if !d.v1 {
		o = append(o, member{"kind", "task"}, member{"metadata", d.whole()})
	}
	return style{html: true}.text(append(o, member{"status", status}))
}

// taskWriter writes one task in one of the shapes.
type taskWriter struct {
	*visit
	v1 bool
}

// prefix is what names of metadata begin with: the Python runtime of released
// versions has its own.
func (d taskWriter) prefix() string {
	if d.dialect.camel() || d.v1 {
		return "adk_"
	}
	return "kagent_"
}

// whole is the metadata of a task of a released version. adk-go's converter says no
// more than the app there; runtimes without invocations have none to name.
func (d taskWriter) whole() object {
	if d.dialect.camel() {
		return object{{d.prefix() + "app_name", d.session.agent}}
	}
	return d.metadata(d.log[len(d.log)-1])
}

// metadata is what a message or an artifact says of its event.
func (d taskWriter) metadata(e *event) object {
	o := object{
		{d.prefix() + "app_name", d.session.agent}, {d.prefix() + "user_id", d.session.user}, {d.prefix() + "session_id", d.session.id},
	}
	if d.dialect.events() && d.dialect != OpenAI {
		o = append(o, member{d.prefix() + "invocation_id", e.invocation}, member{d.prefix() + "author", e.author})
	}
	return o
}

func (d taskWriter) status() object {
	state, at := d.state, d.now.Format("2006-01-02T15:04:05.000000+00:00")
	if d.v1 {
		state, at = "TASK_STATE_"+strings.ToUpper(strings.ReplaceAll(state, "-", "_")), d.now.Format(time.RFC3339Nano)
	}
	o := object{{"state", state}, {"timestamp", at}}
	if d.state == inputRequired {
		o = append(o, member{"message", d.message(d.log[len(d.log)-1])})
	}
	return o
}

// history are the requests and, of released versions, a message for each event. The
// last one becomes the status while the task waits for a person.
func (d taskWriter) history() list {
	said := d.log
	if d.state == inputRequired {
		said = said[:len(said)-1]
	}
	var messages list
	for _, e := range said {
		if e.author == "user" || !d.v1 {
			messages = append(messages, d.message(e))
		}
	}
	return messages
}

func (d taskWriter) message(e *event) object {
	role := "agent"
	if e.author == "user" {
		role = "user"
	}
	if d.v1 {
		return object{
			{"contextId", d.session.id}, {"messageId", e.id}, {"metadata", d.metadata(e)}, {"parts", d.parts(e)},
			{"role", "ROLE_" + strings.ToUpper(role)}, {"taskId", d.task},
		}
	}
	return object{
		{"contextId", d.session.id}, {"kind", "message"}, {"messageId", e.id}, {"metadata", d.metadata(e)}, {"parts", d.parts(e)},
		{"role", role}, {"taskId", d.task},
	}
}

// artifacts are one for each event, or one with the answer.
func (d taskWriter) artifacts() list {
	artifacts := list{}
	for _, e := range d.log {
		last := e == d.log[len(d.log)-1] && d.state == completed
		if e.author != "user" && (d.v1 || last) {
			artifacts = append(artifacts, object{{"artifactId", "a-" + e.id}, {"metadata", d.metadata(e)}, {"parts", d.parts(e)}})
		}
	}
	return artifacts
}

func (d taskWriter) parts(e *event) list {
	var parts list
	for _, p := range e.parts {
		o := d.part(p)
		if !d.v1 {
			kind := "data"
			if p.call == nil && p.response == nil {
				kind = "text"
			}
			o = append(object{{"kind", kind}}, o...)
		}
		parts = append(parts, o)
	}
	return parts
}

func (d taskWriter) part(p part) object {
	kind := d.prefix() + "type"
	switch {
	case p.call != nil:
		about := object{{kind, "function_call"}}
		if p.call.name == confirmation {
			about = append(about, member{d.prefix() + "is_long_running", true})
		}
		if p.stamp != "" {
			about = append(about, member{"kagent_subagent_session_id", p.stamp})
		}
		return object{{"data", object{{"id", p.call.id}, {"name", p.call.name}, {"args", p.call.args}}}, {"metadata", about}}
	case p.response != nil:
		data := object{{"id", p.response.id}, {"name", p.response.name}, {"response", p.response.value}}
		return object{{"data", data}, {"metadata", object{{kind, "function_response"}}}}
	}
	return object{{"text", p.text}}
}
