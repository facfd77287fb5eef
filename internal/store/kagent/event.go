package kagent

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/media"
)

// headerUpdate is the invocation of the events by which the Python runtime hands the
// headers of a request to its agent (docs/stores/kagent.md#what-is-read).
const headerUpdate = "header_update"

// decodeItem decodes an event.
func (r *reader) decodeItem(row columns, it *session.Item, body bool) []session.Fault {
	faults := timeFaults(row)
	if row("deleted_at") != nil {
		it.Flags |= session.Skipped
	}
	data := column.Bytes(row("data"))
	if data == nil {
		it.Kind = session.Other
		if body {
			it.Body = &session.Body{}
		}
		return append(faults, session.Fault{Kind: session.RequiredNull, Field: "data", Detail: "The text of the event is stored nowhere else.", Unloads: true})
	}
	doc, _ := unwrapDocument(data)
	form := dialectOf(doc)
	skipped := it.Flags // the decoders set the others
	faults = append(faults, r.decodeDocument(form, doc, row, it, body)...)
	it.Flags |= skipped
	r.notes.keepNote(it.Key, r.tieItem(row, form, doc, it))
	if !body {
		it.DropTexts()
		return faults
	}
	it.KeepTexts()
	it.Body.Raw = bytes.Clone(data)
	if r.redacts {
		it.Body.Raw = redactEvent(it.Body.Raw)
	}
	return faults
}

// decodeDocument reads a document of some dialect. Arguments and results are there without body,
// too, and may be parts of the document.
func (r *reader) decodeDocument(form dialect, doc []byte, row columns, it *session.Item, body bool) []session.Fault {
	stored := times.Read(row("created_at")).Time
	switch form {
	case responses:
		it.Time = stored
		return decodeResponses(doc, it)
	case message:
		it.Time = stored
		return decodeMessage(doc, it)
	}
	faults := r.documents.DecodeItem(adk.Document{
		Data: doc, Column: "data", Python: form == snake, User: column.View(row("user_id")), Stored: stored,
	}, it, body)
	if it.Invocation() == headerUpdate || it.Agent() == "system" {
		it.Shared.Agent = ""
	}
	return faults
}

// timeFaults are about the columns with times.
func timeFaults(row columns) []session.Fault {
	faults := eventlog.BadTimes(row, &times, "created_at", "updated_at", "deleted_at")
	if row("created_at") == nil {
		faults = append(faults, session.Fault{Kind: session.BadTime, Field: "created_at", Detail: "it is NULL, so the event comes before all others"})
	}
	return faults
}

// confirmation is the tool by which ADK asks a person for approval.
const confirmation = "adk_request_confirmation"

// approval is a request for it, or the answer, with what the tool that asks wants back.
type approval struct {
	Payload struct {
		Task    string `json:"task_id"`
		Context string `json:"context_id"`
	} `json:"payload"`
}

func (n *note) noteQuestion(call string, a approval) {
	if call == "" || a.Payload.Context == "" {
		return
	}
	if n.asks == nil {
		n.asks = map[string]session.Question{}
	}
	n.asks[call] = session.Question{Child: a.Payload.Context, Run: a.Payload.Task}
}

// childQuestion is whose run the request is about. The payload of a tool that is no worker
// names none.
func (a *approval) childQuestion() session.Question {
	if a.Payload.Task == "" || a.Payload.Context == "" {
		return session.Question{}
	}
	return session.Question{Child: a.Payload.Context, Run: a.Payload.Task}
}

// readAnswer reads what a person answered: kagent gives it back as JSON in a text, with
// what the question handed on (_hitl.py of kagent-adk since v0.8).
func readAnswer(response []byte) session.Question {
	var r struct {
		Text jsontext.Value `json:"response"`
	}
	if jsonscan.Go.Unmarshal(response, &r) == nil && stringOf(r.Text) != "" {
		response = []byte(stringOf(r.Text))
	}
	var a approval
	if jsonscan.Go.Unmarshal(response, &a) != nil {
		return session.Question{}
	}
	return a.childQuestion()
}

// readConfirmation reads the arguments of a call of that tool with an id.
func (n *note) readConfirmation(id string, args []byte) session.Question {
	var c struct {
		Original struct {
			ID string `json:"id"`
		} `json:"originalFunctionCall"`
		Confirmation approval `json:"toolConfirmation"`
	}
	if jsonscan.Go.Unmarshal(args, &c) == nil {
		n.noteQuestion(c.Original.ID, c.Confirmation)
		if n.about == nil {
			n.about = map[string]string{}
		}
		n.about[id] = c.Original.ID
	}
	return c.Confirmation.childQuestion()
}

// readActions looks at what an event of ADK did besides saying something.
func (n *note) readActions(doc []byte) {
	var e struct {
		Actions struct {
			State    map[string]jsontext.Value `json:"stateDelta"`
			Requests map[string]jsontext.Value `json:"requestedToolConfirmations"`
		} `json:"actions"`
	}
	if jsonscan.Go.Unmarshal(doc, &e) != nil {
		return
	}
	for call, request := range e.Actions.Requests {
		var a approval
		if jsonscan.Go.Unmarshal(request, &a) == nil {
			n.noteQuestion(call, a)
		}
	}
	for name, value := range e.Actions.State {
		if strings.EqualFold(name, headers) {
			n.parented = n.parented || isSentByAgent(value)
		}
	}
}

// headers is the entry of the state with the headers of a request (docs/stores/kagent.md#what-is-read). What they
// say but for two of them is nobody's business: see redact.go.
const headers = "headers"

// isSentByAgent reports whether headers say that another agent sent the request.
func isSentByAgent(value jsontext.Value) bool {
	var list map[string]jsontext.Value
	if jsonscan.Go.Unmarshal(value, &list) != nil {
		return false
	}
	for name, value := range list {
		if name = strings.ToLower(name); name == "x-kagent-parent-context-id" || name == "x-kagent-source" && stringOf(value) == "agent" {
			return true
		}
	}
	return false
}

// a2aMessage is a message of A2A in both of its shapes: before 1.0 parts and
// messages have a kind, and roles are called user and agent (docs/stores/kagent.md#what-is-read).
type a2aMessage struct {
	Role     string     `json:"role"`
	Parts    []a2aPart  `json:"parts"`
	Metadata a2aDetails `json:"metadata"`
}

type a2aPart struct {
	Text     *string        `json:"text"`
	Data     jsontext.Value `json:"data"`
	File     jsontext.Value `json:"file"` // before 1.0
	Metadata a2aDetails     `json:"metadata"`
	Raw      string         `json:"raw"`
	URL      string         `json:"url"`
	Media    string         `json:"mediaType"`
}

// a2aFile is a file by its content; one that has only its address is a link.
type a2aFile struct {
	Bytes string `json:"bytes"`
	Media string `json:"mimeType"`
}

// a2aDetails are the members of metadata by the names that kagent gives them.
type a2aDetails map[string]jsontext.Value

// detailNamed is a detail: adk_ is what ADK's own converter writes, kagent_ what kagent's
// older one does (docs/stores/kagent.md#what-is-read).
func (d a2aDetails) detailNamed(name string) string {
	return cmp.Or(stringOf(d["adk_"+name]), stringOf(d["kagent_"+name]))
}

// a2aTool is the data of a part that is a call or a result.
type a2aTool struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Args     jsontext.Value `json:"args"`
	Response jsontext.Value `json:"response"`
}

// decodeTool reads a part with data; kind is "function_call", "function_response", or ""
// where it is neither.
func (p *a2aPart) decodeTool() (kind string, t a2aTool) {
	kind = p.Metadata.detailNamed("type")
	if kind != "function_call" && kind != "function_response" || jsonscan.Go.Unmarshal(p.Data, &t) != nil {
		return "", a2aTool{}
	}
	return kind, t
}

// messageText are the texts of the parts, as kagent joins them for a caller
// (_remote_a2a_tool.py of kagent-adk since v0.8).
func (m *a2aMessage) messageText() string { return joinTexts(m.Parts) }

func joinTexts(parts []a2aPart) string {
	var texts []string
	for i := range parts {
		if t := parts[i].Text; t != nil && *t != "" {
			texts = append(texts, *t)
		}
	}
	return strings.Join(texts, "\n")
}

// speakerRole is the role of a message: "user", "agent", or with "ROLE_" before it.
func (m *a2aMessage) speakerRole() session.Role {
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
	if err := jsonscan.Go.Unmarshal(doc, &m); err != nil {
		makeOther(it, doc)
		return []session.Fault{{Kind: session.Undecodable, Field: "data", Detail: explainError(err), Whole: jsonedit.IsWhole(doc)}}
	}
	var faults []session.Fault
	role := m.speakerRole()
	if role == session.NoRole {
		faults = append(faults, session.Fault{
			Kind: session.UnknownPart, Field: m.Role, Detail: "the role of the message is neither that of the user nor that of the agent, which are all that A2A knows",
		})
	}
	it.Shared.Invocation, it.Shared.Branch = m.Metadata.detailNamed("invocation_id"), m.Metadata.detailNamed("branch")
	if role == session.Assistant {
		it.Shared.Agent = m.Metadata.detailNamed("author")
	}
	s := speech{it: it}
	for i := range m.Parts {
		s.addPart(&m.Parts[i])
	}
	if len(it.Results) > 0 && len(it.Calls) == 0 && strings.TrimSpace(s.text.String()) == "" {
		role = session.Tool
	}
	s.finishMessage(role)
	return faults
}

func (s *speech) addPart(p *a2aPart) {
	kind, t := p.decodeTool()
	switch {
	case p.Text != nil:
		s.addText(*p.Text, "")
	case kind == "function_call":
		s.addCall(session.Call{ID: t.ID, Name: t.Name, Args: string(t.Args)}, "")
	case kind == "function_response":
		s.addResult(session.Result{CallID: t.ID, Name: t.Name, Text: string(t.Response)})
	case p.File != nil:
		var f a2aFile
		_ = jsonscan.Go.Unmarshal(p.File, &f)
		s.addFile("document", f.Media, media.StandardBase64(f.Bytes), p.File)
	case p.Raw != "" || p.URL != "":
		s.addFile("document", p.Media, media.StandardBase64(p.Raw), jsontext.Value(cmp.Or(p.Raw, p.URL)))
	default:
		s.addBlock(session.Block{Kind: session.UnknownBlock, Name: "data"}, p.Data)
	}
}

// speech collects what a record of kagent's own dialects says.
type speech struct {
	it              *session.Item
	text, reasoning strings.Builder
	size            int64 // of all but these
	rest            session.Meaning
	told            bool // there are blocks that tell more than their order
}

// addBlock is a part that says nothing in words. What is stored of it counts.
func (s *speech) addBlock(b session.Block, stored jsontext.Value) {
	s.it.Blocks = append(s.it.Blocks, b)
	s.rest.AddDigest(session.DigestOf([]byte(stored)))
	s.size += int64(len(stored))
	s.told = true
}

// addFile adds a file, with what it holds in base64, "" for a link.
func (s *speech) addFile(name, label, data string, stored jsontext.Value) {
	b := session.Block{Kind: session.MediaBlock}
	if data != "" {
		b = media.NewBlock(label, data)
	}
	if b.Name = name; label != "" {
		b.Name = session.MediaName(label)
	}
	s.addBlock(b, stored)
}

// addFiles adds the images and files of a content of the Responses API, or of the output of the
// result that was added last.
func (s *speech) addFiles(content jsontext.Value, in int) {
	if !bytes.Contains(content, []byte(`"input_image"`)) && !bytes.Contains(content, []byte(`"input_file"`)) {
		return
	}
	var parts []struct {
		Type  string `json:"type"`
		Image string `json:"image_url"`
		File  string `json:"file_data"`
	}
	_ = jsonscan.Go.Unmarshal(content, &parts)
	for _, p := range parts {
		if name, is := strings.CutPrefix(p.Type, "input_"); is && name != "text" {
			url := cmp.Or(p.Image, p.File)
			label, data := media.SplitDataURL(url)
			s.addFile(strings.Replace(name, "file", "document", 1), label, data, jsontext.Value(url))
			s.it.Blocks[len(s.it.Blocks)-1].In = in
		}
	}
}

func (s *speech) addText(text, id string) {
	if s.text.Len() > 0 {
		s.text.WriteByte('\n')
		s.told = true
	}
	s.text.WriteString(text)
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.TextBlock, ID: id, Blank: strings.TrimSpace(text) == ""})
}

func (s *speech) addReasoning(text, id string) {
	s.reasoning.WriteString(text)
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.ReasoningBlock, ID: id, Text: session.DigestOf(text)})
	s.told = true
}

func (s *speech) addCall(c session.Call, id string) {
	c.Form = eventlog.FormOf(c.Args)
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.CallBlock, Nth: len(s.it.Calls), ID: id})
	s.it.Calls = append(s.it.Calls, c)
	s.size += int64(len(c.Args))
}

func (s *speech) addResult(r session.Result) {
	r.Digest, r.Synthetic = session.DigestOf(r.Text), session.IsPlaceholder(r.Text)
	if strings.HasPrefix(r.Text, session.SyntheticPrefix) { // a repair wrote it, for want of a result
		s.it.Flags |= session.Synthetic
		r.IsError = true
	}
	s.it.Blocks = append(s.it.Blocks, session.Block{Kind: session.ResultBlock, Nth: len(s.it.Results)})
	s.it.Results = append(s.it.Results, r)
	s.size += int64(len(r.Text))
}

// finishMessage makes the item a message of a role.
func (s *speech) finishMessage(role session.Role) {
	it, text, reasoning := s.it, s.text.String(), s.reasoning.String()
	it.Kind, it.Role = session.Message, role
	it.Text, it.Flags = session.DigestOf(text), it.Flags|session.TextFlags(text)
	if len(it.Calls)+len(it.Results) == 0 && strings.TrimSpace(text) == "" && !it.HasBlock(session.MediaBlock) && !it.HasBlock(session.UnknownBlock) {
		it.Flags |= session.Blank
	}
	it.Size = int64(len(text)+len(reasoning)) + s.size
	it.Meaning = s.digestMeaning(reasoning)
	if role == session.Tool && len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	it.Body = &session.Body{Text: text, Reasoning: reasoning}
	if !s.told {
		it.Blocks = nil
	}
}

func (s *speech) digestMeaning(reasoning string) session.Digest {
	it, rest := s.it, s.rest.Digest()
	m := &s.rest
	m.Reset(it.Role, it.Agent())
	m.AddMark(byte(it.Kind))
	m.AddDigest(it.Text)
	m.AddDigest(session.DigestOf(reasoning))
	m.AddDigest(rest)
	for i := range it.Calls {
		m.AddMark('c')
		m.AddTexts(it.Calls[i].ID, it.Calls[i].Name, it.Calls[i].Args)
	}
	for i := range it.Results {
		m.AddMark('r')
		m.AddDigest(session.DigestOf(it.Results[i].CallID))
		m.AddDigest(it.Results[i].Digest)
	}
	return m.Digest()
}

// makeOther makes the item a record that no model sees.
func makeOther(it *session.Item, doc []byte) {
	*it = session.Item{Shared: &session.Shared{Table: it.Table()}, Key: it.Key, Position: it.Position, Time: it.Time, Kind: session.Other, Body: &session.Body{}}
	var m session.Meaning
	m.Reset(it.Role, "")
	m.AddMark(byte(it.Kind))
	m.AddDigest(session.DigestOf(doc))
	it.Meaning = m.Digest()
}
