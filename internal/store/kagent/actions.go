package kagent

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// confirmation is the tool by which ADK asks a person for approval.
const confirmation = "adk_request_confirmation"

// approval is a request for it, or the answer, with what the tool that asks wants back.
type approval struct {
	Payload struct {
		Task    string `json:"task_id"`
		Context string `json:"context_id"`
	} `json:"payload"`
}

func (n *note) ask(call string, a approval) {
	if call == "" || a.Payload.Context == "" {
		return
	}
	if n.asks == nil {
		n.asks = map[string]session.Question{}
	}
	n.asks[call] = session.Question{Child: a.Payload.Context, Run: a.Payload.Task}
}

// question is whose run the request is about. The payload of a tool that is no worker
// names none.
func (a *approval) question() session.Question {
	if a.Payload.Task == "" || a.Payload.Context == "" {
		return session.Question{}
	}
	return session.Question{Child: a.Payload.Context, Run: a.Payload.Task}
}

// answered reads what a person answered: kagent gives it back as JSON in a text, with
// what the question handed on (_hitl.py of kagent-adk since v0.8).
func answered(response []byte) session.Question {
	var r struct {
		Text jsontext.Value `json:"response"`
	}
	if json.Unmarshal(response, &r, lenient) == nil && stringOf(r.Text) != "" {
		response = []byte(stringOf(r.Text))
	}
	var a approval
	if json.Unmarshal(response, &a, lenient) != nil {
		return session.Question{}
	}
	return a.question()
}

// confirm reads the arguments of a call of that tool with an id.
func (n *note) confirm(id string, args []byte) session.Question {
	var c struct {
		Original struct {
			ID string `json:"id"`
		} `json:"originalFunctionCall"`
		Confirmation approval `json:"toolConfirmation"`
	}
	if json.Unmarshal(args, &c, lenient) == nil {
		n.ask(c.Original.ID, c.Confirmation)
		if n.about == nil {
			n.about = map[string]string{}
		}
		n.about[id] = c.Original.ID
	}
	return c.Confirmation.question()
}

// read looks at what an event of ADK did besides saying something.
func (n *note) read(doc []byte) {
	var e struct {
		Actions struct {
			State    map[string]jsontext.Value `json:"stateDelta"`
			Requests map[string]jsontext.Value `json:"requestedToolConfirmations"`
		} `json:"actions"`
	}
	if json.Unmarshal(doc, &e, lenient) != nil {
		return
	}
	for call, request := range e.Actions.Requests {
		var a approval
		if json.Unmarshal(request, &a, lenient) == nil {
			n.ask(call, a)
		}
	}
	for name, value := range e.Actions.State {
		if strings.EqualFold(name, headers) {
			n.parented = n.parented || parented(value)
		}
	}
}

// headers is the entry of the state with the headers of a request (b1). What they
// say but for two of them is nobody's business: see redact.go.
const headers = "headers"

// parented reports whether headers say that another agent sent the request.
func parented(value jsontext.Value) bool {
	var list map[string]jsontext.Value
	if json.Unmarshal(value, &list, lenient) != nil {
		return false
	}
	for name, value := range list {
		switch strings.ToLower(name) {
		case "x-kagent-parent-context-id":
			return true
		case "x-kagent-source":
			if stringOf(value) == "agent" {
				return true
			}
		}
	}
	return false
}
