package kagent

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// wrapper is a row of the package for the OpenAI Agents SDK: what the SDK gave its
// session to keep at once, as input items of the Responses API (b1).
type wrapper struct {
	Items []inputItem `json:"items"`
}

type inputItem struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	ID        string         `json:"id"`
	Content   jsontext.Value `json:"content"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments string         `json:"arguments"`
	Output    jsontext.Value `json:"output"`
	Summary   jsontext.Value `json:"summary"`
}

// decodeResponses makes one item of a row, although the row can hold several turns:
// calls with their results, and the answer behind them. It speaks for the model where
// the model said anything, so that results stand within a message of it, which is
// what their row is.
func decodeResponses(doc []byte, it *session.Item) []session.Fault {
	var w wrapper
	if err := json.Unmarshal(doc, &w, lenient); err != nil {
		other(it, doc)
		return []session.Fault{{Kind: session.Undecodable, Field: "data", Detail: explain(err), Whole: jsonedit.Whole(doc)}}
	}
	var faults []session.Fault
	s := speech{it: it}
	asks, answers := false, false
	for i := range w.Items {
		in := &w.Items[i]
		switch {
		case in.Type == "function_call":
			s.call(session.Call{ID: in.CallID, Name: in.Name, Args: in.Arguments}, in.ID)
			answers = true
		case in.Type == "function_call_output":
			s.result(session.Result{CallID: in.CallID, Text: textIn(in.Output)})
		case in.Type == "reasoning":
			s.think(textIn(in.Summary), in.ID)
			answers = true
		case in.Role != "":
			s.say(textIn(in.Content), in.ID)
			asks, answers = asks || in.Role != "assistant", answers || in.Role == "assistant"
		default:
			s.block(session.Block{Kind: session.UnknownBlock, Name: in.Type, ID: in.ID}, in.Output)
			answers = true
		}
	}
	role := session.Tool
	switch {
	case len(w.Items) == 0:
		other(it, doc)
		return faults
	case answers:
		role = session.Assistant
	case asks:
		role = session.ParseRole(w.Items[0].Role)
	}
	s.end(role)
	return faults
}

// textIn is the text of a content: a string, or a list of parts with texts.
func textIn(v jsontext.Value) string {
	if v.Kind() != jsontext.KindBeginArray {
		return stringOf(v)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(v, &parts, lenient) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
