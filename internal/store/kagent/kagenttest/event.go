package kagenttest

import "time"

// event is an event before a runtime gives it a form.
type event struct {
	id, invocation, author string
	at                     time.Time // when the row is made; the runtime made the event a little before
	parts                  []part
	waits                  []string // ids of long-running calls
	delta                  object   // what it changes of the state
	asked                  []question
}

// part is a text, a call or a response.
type part struct {
	text     string
	call     *call
	response *response
	stamp    string // the session that the call will use, where the caller knows it
}

type call struct {
	id, name string
	args     object
}

type response struct {
	id, name string
	value    object
}

// question is what a person is asked about a call.
type question struct {
	about   *call
	hint    string
	payload object
	callID  string // of the adk_request_confirmation call
}

const confirmation = "adk_request_confirmation"

// made is when the runtime made the event.
func (e *event) made() time.Time { return e.at.Add(-1700 * time.Microsecond) }

// role is that of the content.
func (e *event) role() string {
	if e.author == "user" || len(e.parts) > 0 && e.parts[0].response != nil {
		return "user"
	}
	return "model"
}

// text is the document of the event in a dialect.
func (e *event) text(d Dialect) string {
	switch d {
	case Go1:
		return style{html: true}.text(e.pascal())
	case Go2:
		return style{html: true}.text(e.camel())
	}
	return style{}.text(e.snake())
}

// content is what the event says; nulls are written by pydantic only.
func (e *event) content(d Dialect) any {
	if e.parts == nil {
		return nil
	}
	var parts list
	for _, p := range e.parts {
		if d.camel() {
			parts = append(parts, p.camel())
		} else {
			parts = append(parts, p.snake())
		}
	}
	return object{{"parts", parts}, {"role", e.role()}}
}

func (p part) camel() object {
	switch {
	case p.call != nil:
		return object{{"functionCall", object{{"id", p.call.id}, {"args", p.call.args}, {"name", p.call.name}}}}
	case p.response != nil:
		return object{{"functionResponse", object{{"id", p.response.id}, {"name", p.response.name}, {"response", p.response.value}}}}
	}
	return object{{"text", p.text}}
}

// snake is a part as pydantic writes it.
func (p part) snake() object {
	var text, called, answered any
	switch {
	case p.call != nil:
		called = object{{"id", p.call.id}, {"args", p.call.args}, {"name", p.call.name}, {"partial_args", nil}, {"will_continue", nil}}
	case p.response != nil:
		answered = object{{"will_continue", nil}, {"scheduling", nil}, {"parts", nil}, {"id", p.response.id}, {"name", p.response.name}, {"response", p.response.value}}
	default:
		text = p.text
	}
	return object{
		{"media_resolution", nil}, {"code_execution_result", nil}, {"executable_code", nil}, {"file_data", nil},
		{"function_call", called}, {"function_response", answered}, {"inline_data", nil}, {"text", text},
		{"thought", nil}, {"thought_signature", nil}, {"video_metadata", nil},
	}
}

// confirmations are what persons are asked, by the ids of the calls.
func (e *event) confirmations() object {
	asked := object{}
	for _, q := range e.asked {
		asked = append(asked, member{q.about.id, q.tool()})
	}
	return asked
}

// tool is the question as the tool asked it.
func (q question) tool() object {
	var payload any
	if q.payload != nil {
		payload = q.payload
	}
	return object{{"hint", q.hint}, {"confirmed", false}, {"payload", payload}}
}
