package kagent

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// a2aMessage is a message of A2A in both of its shapes: before 1.0 parts and
// messages have a kind, and roles are called user and agent (b2).
type a2aMessage struct {
	Role     string     `json:"role"`
	Parts    []a2aPart  `json:"parts"`
	Metadata a2aDetails `json:"metadata"`
}

type a2aPart struct {
	Text     *string        `json:"text"`
	Data     jsontext.Value `json:"data"`
	File     jsontext.Value `json:"file"`
	Metadata a2aDetails     `json:"metadata"`
}

// a2aDetails are the members of metadata by the names that kagent gives them.
type a2aDetails map[string]jsontext.Value

// of is a detail: adk_ is what ADK's own converter writes, kagent_ what kagent's
// older one does (b2).
func (d a2aDetails) of(name string) string {
	return cmp.Or(stringOf(d["adk_"+name]), stringOf(d["kagent_"+name]))
}

// a2aTool is the data of a part that is a call or a result.
type a2aTool struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Args     jsontext.Value `json:"args"`
	Response jsontext.Value `json:"response"`
}

// tool reads a part with data; kind is "function_call", "function_response", or ""
// where it is neither.
func (p *a2aPart) tool() (kind string, t a2aTool) {
	kind = p.Metadata.of("type")
	if kind != "function_call" && kind != "function_response" || json.Unmarshal(p.Data, &t, lenient) != nil {
		return "", a2aTool{}
	}
	return kind, t
}

// text are the texts of the parts, as kagent joins them for a caller
// (_remote_a2a_tool.py of kagent-adk since v0.8).
func (m *a2aMessage) text() string { return joined(m.Parts) }

func joined(parts []a2aPart) string {
	var texts []string
	for i := range parts {
		if t := parts[i].Text; t != nil && *t != "" {
			texts = append(texts, *t)
		}
	}
	return strings.Join(texts, "\n")
}

// speaker is the role of a message: "user", "agent", or with "ROLE_" before it.
func (m *a2aMessage) speaker() session.Role {
	switch strings.TrimPrefix(strings.ToLower(m.Role), "role_") {
	case "user":
		return session.User
	case "agent":
		return session.Assistant
	}
	return session.NoRole
}

// decodeMessage makes an item of an event that is a message of A2A.
func decodeMessage(doc []byte, it *session.Item) []session.Fault {
	var m a2aMessage
	if err := json.Unmarshal(doc, &m, lenient); err != nil {
		other(it, doc)
		return []session.Fault{{Kind: session.Undecodable, Field: "data", Detail: explain(err), Whole: jsonedit.Whole(doc)}}
	}
	var faults []session.Fault
	role := m.speaker()
	if role == session.NoRole {
		faults = append(faults, session.Fault{
			Kind: session.UnknownPart, Field: m.Role, Detail: "the role of the message is neither that of the user nor that of the agent, which are all that A2A knows",
		})
	}
	it.Invocation, it.Branch = m.Metadata.of("invocation_id"), m.Metadata.of("branch")
	if role == session.Assistant {
		it.Agent = m.Metadata.of("author")
	}
	s := speech{it: it}
	for i := range m.Parts {
		s.part(&m.Parts[i])
	}
	if len(it.Results) > 0 && len(it.Calls) == 0 && strings.TrimSpace(s.text.String()) == "" {
		role = session.Tool
	}
	s.end(role)
	return faults
}

func (s *speech) part(p *a2aPart) {
	kind, t := p.tool()
	switch {
	case p.Text != nil:
		s.say(*p.Text, "")
	case kind == "function_call":
		s.call(session.Call{ID: t.ID, Name: t.Name, Args: string(t.Args)}, "")
	case kind == "function_response":
		s.result(session.Result{CallID: t.ID, Name: t.Name, Text: string(t.Response)})
	case p.File != nil:
		s.block(session.Block{Kind: session.MediaBlock, Name: "document"}, p.File)
	default:
		s.block(session.Block{Kind: session.UnknownBlock, Name: "data"}, p.Data)
	}
}
