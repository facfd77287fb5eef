package adk

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// item decodes an event into an item; what only other events can tell of it is for
// Finish, and what Finish has to know goes into notes.
func (g generation) item(row columns, it *session.Item, body bool, notes *notes) []session.Fault {
	s, list := g.read(row)
	g.fill(&s, textOf(row("user_id")), it, body, &list)
	notes.keep(it.Key, noteOf(g, &s))
	return list
}

// fill makes an item of an event of a user's session.
func (g generation) fill(s *stored, user string, it *session.Item, body bool, list *faults) {
	it.Time, it.Invocation = s.time.Time, s.InvocationID
	it.Branch, it.Scope, it.Model = s.Branch.text, s.IsolationScope, s.ModelVersion
	it.Agent = s.agent(user)
	if body {
		it.Body = &session.Body{Raw: bytes.Clone(s.raw)}
	}
	switch said := s.content(g); {
	case s.broken:
		other(it, s)
	case s.Actions.Compaction != nil:
		g.summary(s, it, list)
	case said == nil || s.Partial:
		other(it, s)
	default:
		g.message(said, s, it, list)
	}
	if !body {
		forgetTexts(it)
	}
}

// summary makes a summary of a compaction: of what its content says, the text.
func (g generation) summary(s *stored, it *session.Item, list *faults) {
	it.Kind, it.Agent = session.Summary, ""
	g.say(&s.Actions.Compaction.CompactedContent, s, it, list)
	it.Role, it.Flags, it.Calls, it.Results, it.Blocks = session.NoRole, 0, nil, nil, nil
	if wrong := g.summaryFault(s); wrong != "" {
		if g != j1 {
			wrong += ", so that no event is taken for summarised"
		}
		list.add(session.BadSummary, "actions compaction", wrong)
	}
	if it.Text == 0 {
		list.add(session.BadSummary, "actions compaction", "it has no text: what it covers is lost to every model")
	}
}

// agent is who wrote the event, "" for the user. Some stores give the user's events
// the user's id for an author (#25 of section 5); an agent may be called so, too.
func (e *event) agent(user string) string {
	if e.Author == "user" || e.Author == user && (e.Content == nil || e.Content.Role != "model") {
		return ""
	}
	return e.Author
}

// other is an event that no request ever holds: a change of the state, an error. It
// says the same at another time.
func other(it *session.Item, s *stored) {
	it.Kind = session.Other
	var m session.Meaning
	m.Reset(it.Role, it.Agent)
	m.Mark(byte(it.Kind))
	m.Add(session.DigestOf(WithoutTime(s.raw)))
	it.Meaning = m.Digest()
}

// content is what a request would hold of the event, nil for nothing: a content with
// a role and a part that is shown, or else the transcription of what was spoken
// (contents.py of adk-python and contents_processor.go of adk-go skip all others).
func (s *stored) content(g generation) *content {
	c := s.Content
	if c != nil && c.Role != "" && (slices.ContainsFunc(c.Parts, func(p messagePart) bool { return g.shows(&p) }) || g == j1 && !c.beginsEmpty()) {
		return c
	}
	switch {
	case g == j1: // which sends no transcriptions
	case s.InputTranscription.Text != "":
		return &content{Role: "user", Parts: []messagePart{{Text: &s.InputTranscription.Text}}}
	case s.OutputTranscription.Text != "":
		return &content{Role: "model", Parts: []messagePart{{Text: &s.OutputTranscription.Text}}}
	}
	return nil
}

// beginsEmpty reports whether the first part is an empty text: adk-js sends no such
// event, whatever stands behind that, and every other one (content_processor_utils.ts).
func (c *content) beginsEmpty() bool {
	return len(c.Parts) > 0 && c.Parts[0].Text != nil && *c.Parts[0].Text == ""
}

// shows reports whether a part alone keeps its event in a request. adk-python passes
// over thoughts, unless the model's signature is with them (3.1 step 2, 2); adk-go
// and adk-js over nothing but parts that are empty.
func (g generation) shows(p *messagePart) bool {
	switch {
	case p.FunctionCall != nil, p.FunctionResponse != nil, p.ToolCall != nil, p.ToolResponse != nil, p.ThoughtSignature != "":
		return true
	case p.Thought && g.python():
		return false
	}
	return p.Text != nil && *p.Text != "" || p.InlineData != nil || p.FileData != nil ||
		p.ExecutableCode != nil || p.CodeExecutionResult != nil || p.unknown() != ""
}

// hidden are the tools whose calls and answers are between the runtime and a person;
// an event with one of them is kept from every model (3.1 step 6, 2).
// adk-go makes texts of the two others for other agents, as of every call that is not
// their own; who asks so is a workflow and no model's agent, so that no model is sent them
// as calls.
var hidden = map[string]bool{credential: true, confirmation: true, "adk_request_input": true, "adk_framework": true}

// hides reports whether a tool is one of these. adk-js has no such framework.
func (g generation) hides(tool string) bool {
	return hidden[tool] && (g != j1 || tool != "adk_framework")
}

// message makes a message of what an event says.
func (g generation) message(c *content, s *stored, it *session.Item, list *faults) {
	it.Kind = session.Message
	g.say(c, s, it, list)
	if it.Role == session.NoRole {
		list.add(session.UnknownPart, c.Role, "the role "+quoted(c.Role)+" is neither user nor model, which are all that ADK knows")
	}
	if it.Has(session.ReasoningBlock) && g.barely(c) {
		it.Flags &^= session.BlankText // it cannot be taken away without the thoughts
	}
	for i := range it.Calls {
		it.Calls[i].Waits = slices.Contains(s.LongRunningToolIDs, it.Calls[i].ID)
		if g.hides(it.Calls[i].Name) {
			it.Flags |= session.Unshown
		}
	}
	for i := range it.Results {
		if g.hides(it.Results[i].Name) {
			it.Flags |= session.Unshown
		}
	}
	if g == j1 && c.beginsEmpty() {
		it.Flags |= session.Unshown
	}
	// A path in a user's message means that only that node of a workflow sees it
	// (3.1 step 5); other events have the path of the node that wrote them. adk-go
	// has no such rule.
	if g.python() && s.Author == "user" && len(it.Results) == 0 {
		it.Node = s.NodeInfo.Path
	}
}

// barely reports whether nothing but white space keeps an event in a request.
func (g generation) barely(c *content) bool {
	return !slices.ContainsFunc(c.Parts, func(p messagePart) bool {
		if strings.TrimSpace(p.said()) == "" {
			p.Text = nil
		}
		return g.shows(&p)
	})
}

// roleOf is the role of a content (2): the results of tools come as the user's. A
// blank text beside them is nothing that the user said.
func roleOf(name string, it *session.Item, blank bool) session.Role {
	switch {
	case name == "model":
		return session.Assistant
	case name != "user":
		return session.NoRole
	case len(it.Results) > 0 && len(it.Calls) == 0 && blank && !it.Has(session.MediaBlock):
		return session.Tool
	}
	return session.User
}

// forgetTexts leaves the outline of an item.
func forgetTexts(it *session.Item) {
	for i := range it.Calls {
		it.Calls[i].Args = ""
	}
	for i := range it.Results {
		it.Results[i].Text = ""
	}
}
