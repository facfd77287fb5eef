package adk

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/media"
)

// event is what is read of an event, whichever generation holds it: the members of
// its document, or columns (docs/stores/adk.md#what-is-read). What is not named is of no use here.
type event struct {
	ID                  string         `json:"id"`
	InvocationID        string         `json:"invocationId"`
	Author              string         `json:"author"`
	Branch              label          `json:"branch"`
	IsolationScope      string         `json:"isolationScope"`
	Timestamp           jsontext.Value `json:"timestamp"`
	Content             *content       `json:"content"`
	Actions             actions        `json:"actions"`
	LongRunningToolIDs  []string       `json:"longRunningToolIds"`
	NodeInfo            node           `json:"nodeInfo"`
	Partial             bool           `json:"partial"`
	ModelVersion        string         `json:"modelVersion"`
	InputTranscription  transcription  `json:"inputTranscription"`
	OutputTranscription transcription  `json:"outputTranscription"`
	// What makes an event of adk-js a summary, as JSON.
	IsCompacted      jsontext.Value `json:"isCompacted"`
	StartTime        jsontext.Value `json:"startTime"`
	EndTime          jsontext.Value `json:"endTime"`
	CompactedContent jsontext.Value `json:"compactedContent"`
}

type node struct {
	Path string `json:"path"`
}

type transcription struct {
	Text string `json:"text"`
}

// content is a Content of the genai libraries.
type content struct {
	Role  string        `json:"role"`
	Parts []messagePart `json:"parts"`
}

// messagePart is one of its parts: a text, a call, a result or a medium, with what qualifies it.
type messagePart struct {
	Text                *string           `json:"text"`
	Thought             bool              `json:"thought"`
	ThoughtSignature    byteText          `json:"thoughtSignature"`
	FunctionCall        *functionCall     `json:"functionCall"`
	FunctionResponse    *functionResponse `json:"functionResponse"`
	ToolCall            *serverTool       `json:"toolCall"` // of a tool that the provider ran
	ToolResponse        *serverTool       `json:"toolResponse"`
	InlineData          *medium           `json:"inlineData"`
	FileData            *medium           `json:"fileData"`
	ExecutableCode      *code             `json:"executableCode"`
	CodeExecutionResult *code             `json:"codeExecutionResult"`
	Qualifiers

	Rest map[string]jsontext.Value `json:",embed"`
}

// Qualifiers say more about a part that says something (genai v1.77.0, types.go).
// They are named so that they are not taken for an unknown part.
type Qualifiers struct {
	VideoMetadata      jsonscan.Skipped `json:"videoMetadata"`
	MediaResolution    jsonscan.Skipped `json:"mediaResolution"`
	PartMetadata       jsonscan.Skipped `json:"partMetadata"`
	AudioTranscription jsonscan.Skipped `json:"audioTranscription"`
	MediaProcessing    jsonscan.Skipped `json:"mediaProcessing"`
	SpeechMetadata     jsonscan.Skipped `json:"speechMetadata"`
}

type functionCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type functionResponse struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response jsontext.Value `json:"response"`
}

type serverTool struct {
	ID       string         `json:"id"`
	ToolType string         `json:"toolType"`
	Args     jsontext.Value `json:"args"`
	Response jsontext.Value `json:"response"`
}

type medium struct {
	MimeType string   `json:"mimeType"`
	Data     byteText `json:"data"`
	FileURI  string   `json:"fileUri"`
}

type code struct {
	Code   string `json:"code"`
	Output string `json:"output"`
}

// actions are what an event did besides saying something.
type actions struct {
	RewindBeforeInvocationID   string                    `json:"rewindBeforeInvocationId"`
	Compaction                 *compaction               `json:"compaction"`
	RequestedToolConfirmations map[string]jsontext.Value `json:"requestedToolConfirmations"`
	RequestedAuthConfigs       map[string]jsontext.Value `json:"requestedAuthConfigs"`
}

// compaction is a summary of a span of time, both ends included (docs/stores/adk.md#what-an-agent-sees).
type compaction struct {
	StartTimestamp   jsontext.Value  `json:"startTimestamp"`
	EndTimestamp     jsontext.Value  `json:"endTimestamp"`
	CompactedContent content         `json:"compactedContent"`
	ExcludedEvents   []excludedEvent `json:"excludedEvents"`
}

// excludedEvent is a hole in the span that the summary does not cover: only branches
// of adk-go write these.
type excludedEvent struct {
	InvocationID string         `json:"invocationId"`
	Timestamp    jsontext.Value `json:"timestamp"`
}

// label is a branch: a path, or the compact JSON of {"tokens":…} or
// {"active_forks":…}, which google/adk-python#3889 stores (docs/stores/adk.md#what-is-read).
type label struct {
	text  string
	wrong bool // it is something else
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *label) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case jsontext.KindString:
		*l = label{text: unquoteText(v)}
	case jsontext.KindNull:
		*l = label{}
	default:
		*l = labelOf(v)
	}
	return nil
}

// SetText implements jsonscan.TextSetter.
func (l *label) SetText(text string) { *l = label{text: text} }

// labelOf is the label that a JSON value is, where it is no string.
func labelOf(v jsontext.Value) label {
	if v.Kind() != jsontext.KindBeginObject {
		return label{wrong: true}
	}
	var form struct {
		Tokens      []int64        `json:"tokens"`
		ActiveForks jsontext.Value `json:"active_forks"`
	}
	if json.Unmarshal(v, &form, pythonJSON) != nil || form.Tokens == nil && form.ActiveForks.Kind() != jsontext.KindBeginObject {
		return label{wrong: true}
	}
	v = v.Clone()
	if v.Compact(pythonJSON) != nil {
		return label{wrong: true}
	}
	return label{text: string(v)}
}

// spare are events to use again: nothing points into one when its item is made.
var spare = sync.Pool{New: func() any { return &stored{memory: new(memory)} }}

func (s *stored) returnToPool() {
	if *s = (stored{memory: s.memory}); cap(s.scratch) <= 64<<10 {
		spare.Put(s)
	}
}

// decodeItem decodes an event into an item; what only other events can tell of it is for
// Finish, and what Finish has to know goes into notes.
func (g generation) decodeItem(row columns, it *session.Item, body bool, notes *notes) []session.Fault {
	s := spare.Get().(*stored)
	defer s.returnToPool()
	list := g.readEvent(row, s)
	g.fillItem(s, column.View(row("user_id")), it, body, &list)
	if body {
		it.KeepTexts()
	} else {
		it.DropTexts()
	}
	notes.keepNote(it.Key, noteOf(g, s))
	return list
}

// fillItem makes an item of an event of a user's session. The arguments of its calls and the
// texts of its results are those of the row, and die with it.
func (g generation) fillItem(s *stored, user string, it *session.Item, body bool, list *faults) {
	own := it.Shared
	it.Time, own.Invocation = s.time.Time, s.InvocationID
	own.Branch, own.Scope, own.Model = s.Branch.text, s.IsolationScope, s.ModelVersion
	own.Agent = s.agentName(user)
	if body {
		it.Body = &session.Body{Raw: bytes.Clone(s.raw)}
	}
	switch said := s.sentContent(g); {
	case s.broken:
		makeOther(it, s)
	case s.Actions.Compaction != nil:
		g.makeSummary(s, it, list)
	case said == nil || s.Partial:
		makeOther(it, s)
	default:
		g.makeMessage(said, s, it, list)
	}
}

// makeSummary makes a summary of a compaction: of what its content says, the text.
func (g generation) makeSummary(s *stored, it *session.Item, list *faults) {
	it.Kind, it.Shared.Agent = session.Summary, ""
	g.fillContent(&s.Actions.Compaction.CompactedContent, s, it, list)
	it.Role, it.Flags, it.Calls, it.Results, it.Blocks = session.NoRole, 0, nil, nil, nil
	if wrong := g.summaryFault(s); wrong != "" {
		if g != j1 {
			wrong += ", so no event counts as summarized"
		}
		list.addFault(session.BadSummary, "actions compaction", wrong)
		(*list)[len(*list)-1].Unloads = g == k1 && s.Actions.Compaction.endsEarly()
	}
	if it.Text == 0 {
		list.addFault(session.BadSummary, "actions compaction", "it has no text: no model sees what it covers")
	}
}

// agentName is who wrote the event, "" for the user. Some stores give the user's events
// the user's id for an author (docs/stores/adk.md#what-an-agent-sees); an agent may be called so, too.
func (e *event) agentName(user string) string {
	if e.Author == "user" || e.Author == user && (e.Content == nil || e.Content.Role != "model") {
		return ""
	}
	return e.Author
}

// makeOther makes an event that no request ever holds: a change of the state, an error. It
// says the same at another time.
func makeOther(it *session.Item, s *stored) {
	it.Kind = session.Other
	var m session.Meaning
	m.Reset(it.Role, it.Agent())
	m.AddMark(byte(it.Kind))
	m.AddDigest(session.DigestOf(WithoutTime(s.said)))
	it.Meaning = m.Digest()
}

// sentContent is what a request would hold of the event, nil for nothing: a content with
// a role and a part that is shown, or else the transcription of what was spoken
// (contents.py of adk-python and contents_processor.go of adk-go skip all others).
func (s *stored) sentContent(g generation) *content {
	c := s.Content
	if c != nil && c.Role != "" && (slices.ContainsFunc(c.Parts, func(p messagePart) bool { return g.showsPart(&p) }) || g == j1 && !c.beginsEmpty()) {
		return c
	}
	switch {
	case g.inMilliseconds(): // whose readers send no transcriptions
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

// showsPart reports whether a part alone keeps its event in a request. adk-python passes
// over thoughts, unless the model's signature is with them (3.1 step 2, 2); adk-go
// and adk-js over nothing but parts that are empty.
func (g generation) showsPart(p *messagePart) bool {
	switch {
	case p.FunctionCall != nil, p.FunctionResponse != nil, p.ToolCall != nil, p.ToolResponse != nil, p.ThoughtSignature != "":
		return true
	case p.Thought && (g.isPython() || g == k1):
		return false
	case g == k1: // HistoryRewriterProcessor.isPartInvisible of adk-kotlin
		return p.Text != nil && strings.TrimSpace(*p.Text) != "" || p.InlineData != nil || p.FileData != nil
	}
	return p.Text != nil && *p.Text != "" || p.InlineData != nil || p.FileData != nil ||
		p.ExecutableCode != nil || p.CodeExecutionResult != nil || p.unknownMember() != ""
}

// hidden are the tools whose calls and answers are between the runtime and a person;
// an event with one of them is kept from every model (3.1 step 6, 2).
// adk-go makes texts of the two others for other agents, as of every call that is not
// their own; who asks so is a workflow and no model's agent, so that no model is sent them
// as calls.
var hidden = map[string]bool{credential: true, confirmation: true, "adk_request_input": true, "adk_framework": true}

// hidesTool reports whether a tool is one of these. adk-js has no such framework, and
// adk-kotlin lets the model read what a person answered to a request for input.
func (g generation) hidesTool(tool string) bool {
	return hidden[tool] && (g != j1 || tool != "adk_framework") && (g != k1 || tool != "adk_request_input")
}

// makeMessage makes a message of what an event says.
func (g generation) makeMessage(c *content, s *stored, it *session.Item, list *faults) {
	it.Kind = session.Message
	g.fillContent(c, s, it, list)
	if it.Role == session.NoRole {
		list.addFault(session.UnknownPart, c.Role, "the role "+quoteName(c.Role)+" is neither user nor model, the only ones that ADK knows")
	}
	if it.HasBlock(session.ReasoningBlock) && g.isKeptBySpace(c) {
		it.Flags &^= session.BlankText // it cannot be taken away without the thoughts
	}
	for i := range it.Calls {
		it.Calls[i].Waits = slices.Contains(s.LongRunningToolIDs, it.Calls[i].ID)
		if g.hidesTool(it.Calls[i].Name) {
			it.Flags |= session.Unshown
		}
	}
	for i := range it.Results {
		if g.hidesTool(it.Results[i].Name) {
			it.Flags |= session.Unshown
		}
	}
	if g == j1 && c.beginsEmpty() {
		it.Flags |= session.Unshown
	}
	// A path in a user's message means that only that node of a workflow sees it
	// (3.1 step 5); other events have the path of the node that wrote them. adk-go
	// has no such rule.
	if g.isPython() && s.Author == "user" && len(it.Results) == 0 {
		it.Shared.Node = s.NodeInfo.Path
	}
}

// isKeptBySpace reports whether nothing but white space keeps an event in a request.
func (g generation) isKeptBySpace(c *content) bool {
	return !slices.ContainsFunc(c.Parts, func(p messagePart) bool {
		if strings.TrimSpace(p.partText()) == "" {
			p.Text = nil
		}
		return g.showsPart(&p)
	})
}

// roleOf is the role of a content (docs/stores/adk.md#what-is-read): the results of tools come as the user's. A
// blank text beside them is nothing that the user said.
func roleOf(name string, it *session.Item, blank bool) session.Role {
	switch {
	case name == "model":
		return session.Assistant
	case name != "user":
		return session.NoRole
	case len(it.Results) > 0 && len(it.Calls) == 0 && blank && !it.HasBlock(session.MediaBlock):
		return session.Tool
	}
	return session.User
}

// fillContent gives the item what a content says. The texts of several parts are one text,
// as ADK joins them where it asks for the text of an event.
func (g generation) fillContent(c *content, s *stored, it *session.Item, list *faults) {
	w := writer{it: it, waiting: &s.Actions, memory: s.memory}
	w.meaning.Reset(session.NoRole, "")
	it.Blocks = w.blocks[:0]
	for i := range c.Parts {
		p := &c.Parts[i]
		if !g.isGo() || g.showsPart(p) { // adk-go leaves empty parts out (contents_processor.go)
			w.addPart(p)
		}
	}
	for _, b := range it.Blocks {
		if b.Kind == session.UnknownBlock {
			list.addFault(session.UnknownPart, b.Name, "ADK does not know message parts called "+quoteName(b.Name))
		}
	}
	text, reasoning := w.text.String(), w.reasoning.String()
	it.Text = session.DigestOf(text)
	it.Role = roleOf(c.Role, it, strings.TrimSpace(text) == "")
	it.Flags |= session.TextFlags(text)
	thinks := g == j1 && reasoning != "" // which is sent alone, too
	if len(it.Calls)+len(it.Results) == 0 && strings.TrimSpace(text) == "" && !it.HasBlock(session.MediaBlock) && !it.HasBlock(session.UnknownBlock) && !thinks {
		it.Flags |= session.Blank
	}
	it.Size = int64(len(text)+len(reasoning)) + w.size
	it.Meaning = w.digestMeaning(c.Role, it, reasoning)
	if it.Role == session.Tool && len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	if it.Body != nil {
		it.Body.Text, it.Body.Reasoning = text, reasoning
	}
	w.markUnsigned(s.ModelVersion)
	if w.blocks = it.Blocks; isPlainList(it.Blocks) {
		it.Blocks = nil
	} else {
		it.Blocks = slices.Clone(it.Blocks)
	}
}

// writer collects what the parts of a content say.
type writer struct {
	it              *session.Item
	waiting         *actions
	text, reasoning joined
	size            int64 // of all but these
	*memory
}

// joined are texts one behind the other. There is mostly one, which is not copied.
type joined struct {
	first string
	all   strings.Builder // where there are more
}

func (j *joined) addText(text string) {
	switch {
	case j.all.Len() > 0:
		j.all.WriteString(text)
	case j.first == "":
		j.first = text
	default:
		j.all.WriteString(j.first)
		j.all.WriteString(text)
	}
}

func (j *joined) String() string { return cmp.Or(j.all.String(), j.first) }

func (w *writer) addPart(p *messagePart) {
	block := session.Block{Signature: session.DigestOf(string(p.ThoughtSignature))}
	switch {
	case p.FunctionCall != nil:
		block.Kind, block.Nth = session.CallBlock, len(w.it.Calls)
		w.addCall(session.Call{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: rawText(p.FunctionCall.Args)})
	case p.FunctionResponse != nil:
		block.Kind, block.Nth = session.ResultBlock, len(w.it.Results)
		w.addResponse(p.FunctionResponse)
	case p.ToolCall != nil:
		block.Kind, block.Nth = session.CallBlock, len(w.it.Calls)
		w.addCall(session.Call{ID: p.ToolCall.ID, Name: p.ToolCall.ToolType, Args: rawText(p.ToolCall.Args), Server: true})
	case p.ToolResponse != nil:
		block.Kind, block.Nth = session.ResultBlock, len(w.it.Results)
		text := rawText(p.ToolResponse.Response)
		w.addResult(session.Result{CallID: p.ToolResponse.ID, Name: p.ToolResponse.ToolType, Text: text, Server: true})
	case p.InlineData != nil || p.FileData != nil:
		m := cmp.Or(p.InlineData, p.FileData)
		if m.Data != "" { // every runtime decodes it, or hands it to Gemini, which takes both forms
			signature := block.Signature
			block = media.NewBlock(strings.Clone(m.MimeType), media.StandardBase64(string(m.Data)))
			block.Signature = signature
		}
		block.Kind, block.Name = session.MediaBlock, session.MediaName(cmp.Or(m.MimeType, "document"))
		w.size += int64(len(m.Data) + len(m.FileURI))
		w.meaning.AddTexts(m.MimeType, string(m.Data), m.FileURI)
	case p.Thought:
		block.Kind, block.Text = session.ReasoningBlock, session.DigestOf(p.partText())
		w.reasoning.addText(p.partText())
	case p.partText() == "" && p.ThoughtSignature != "": // it signs what was thought before (docs/stores/adk.md#what-is-read)
		block.Kind = session.ReasoningBlock
	case p.Text == nil && p.unknownMember() != "":
		block.Kind, block.Name = session.UnknownBlock, p.unknownMember()
		w.meaning.AddDigest(session.DigestOf(block.Name))
		w.meaning.AddDigest(session.DigestOf([]byte(p.Rest[block.Name])))
	default:
		block.Kind, block.Blank = session.TextBlock, strings.TrimSpace(p.partText()) == ""
		w.text.addText(p.partText())
	}
	w.it.Blocks = append(w.it.Blocks, block)
}

// partText is the text of a part: code that the model wrote, and what came of it, are
// texts, too.
func (p *messagePart) partText() string {
	switch {
	case p.Text != nil:
		return *p.Text
	case p.ExecutableCode != nil:
		return p.ExecutableCode.Code
	case p.CodeExecutionResult != nil:
		return p.CodeExecutionResult.Output
	}
	return ""
}

// unknownMember is the name of what a part holds that nothing here knows, "" for nothing.
func (p *messagePart) unknownMember() string {
	first := ""
	for name := range p.Rest {
		if first == "" || name < first {
			first = name
		}
	}
	return first
}

func (w *writer) addCall(c session.Call) {
	if c.Args != "" && c.Args[0] != '{' { // it was decoded as a part of a document
		c.Form = session.ArgsValue
	}
	w.size += int64(len(c.Args))
	w.it.Calls = append(w.it.Calls, c)
}

// digestMeaning digests the meaning of all that was written.
func (w *writer) digestMeaning(role string, it *session.Item, reasoning string) session.Digest {
	held := w.meaning.Digest()
	m := &w.meaning
	m.Reset(it.Role, it.Agent())
	m.AddMark(byte(it.Kind))
	if it.Role == session.NoRole {
		m.AddDigest(session.DigestOf(role))
	}
	m.AddDigest(it.Text)
	m.AddDigest(session.DigestOf(reasoning))
	m.AddDigest(held)
	for i := range it.Calls {
		c := &it.Calls[i]
		m.AddMark('c')
		m.AddTexts(c.ID, c.Name, c.Args)
	}
	for i := range it.Results {
		r := &it.Results[i]
		m.AddMark('r')
		m.AddTexts(r.CallID, r.Name)
		m.AddDigest(r.Digest)
	}
	return m.Digest()
}

// rawText is a value as it is stored, "" for none. It is valid as long as the value.
func rawText(v jsontext.Value) string {
	if v.Kind() == jsontext.KindNull {
		return ""
	}
	return column.ViewBytes(v)
}

// quoteName quotes a name from the store in a sentence.
func quoteName(name string) string { return strconv.QuoteToASCII(name) }

// markUnsigned says of the first call that it lacks its signature, where the document names
// a Gemini: that one gives some.
func (w *writer) markUnsigned(model string) {
	for i := range w.it.Blocks {
		if b := &w.it.Blocks[i]; b.Kind == session.CallBlock {
			b.Unsigned = b.Signature == 0 && strings.Contains(model, "gemini")
			return
		}
	}
}

// isPlainList reports whether blocks tell no more than that there is one text at most,
// then calls, then results.
func isPlainList(blocks []session.Block) bool {
	texts := 0
	for i, b := range blocks {
		if b.Kind == session.TextBlock {
			texts++
		}
		simple := session.Block{Kind: b.Kind, Nth: b.Nth, Blank: b.Blank}
		if b != simple || texts > 1 || b.Kind == session.ReasoningBlock || b.Kind == session.MediaBlock || i > 0 && b.Kind < blocks[i-1].Kind {
			return false
		}
	}
	return true
}
