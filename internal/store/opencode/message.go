package opencode

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/media"
	"github.com/sessctl/sessctl/internal/store/table"
)

// info is what is read of message.data.
type info struct {
	Role   string `json:"role"`
	Parent string `json:"parentID"`
	Agent  string `json:"agent"`
	Model  string `json:"modelID"`
	By     string `json:"providerID"`
	For    struct {
		ID string `json:"modelID"`
		By string `json:"providerID"`
	} `json:"model"` // of a user's message
	Summary any    `json:"summary"` // true, or an object of a user's message
	Finish  string `json:"finish"`
	Error   *struct {
		Name string `json:"name"`
		Data struct {
			Message any `json:"message"`
			Status  any `json:"statusCode"`
		} `json:"data"`
	} `json:"error"`
	Time struct {
		Completed any `json:"completed"`
	} `json:"time"`
}

// part is a row of the table of parts, with what is read of its data. MIME and URL are
// those of a file.
type part struct {
	place table.Place
	row   table.Image
	wrong string // why it is not read
	whole bool   // it is JSON of a form that is not known

	Type     string `json:"type"`
	Text     string `json:"text"`
	Ignored  bool   `json:"ignored"`
	MIME     string `json:"mime"`
	URL      string `json:"url"`
	Tail     string `json:"tail_start_id"`
	Tool     string `json:"tool"`
	CallID   string `json:"callID"`
	State    state  `json:"state"`
	Metadata struct {
		Server    bool   `json:"providerExecuted"`
		Anthropic signed `json:"anthropic"`
		Bedrock   signed `json:"bedrock"`
	} `json:"metadata"`
}

// signed is what a provider adds to its thoughts.
type signed struct {
	Signature string `json:"signature"`
	Redacted  string `json:"redactedData"`
}

// state is how far a call came.
type state struct {
	Status   string         `json:"status"`
	Input    jsontext.Value `json:"input"`
	Output   string         `json:"output"`
	Error    string         `json:"error"`
	Metadata struct {
		Child       string `json:"sessionId"`
		Interrupted bool   `json:"interrupted"`
		Output      any    `json:"output"`
	} `json:"metadata"`
	Time struct {
		Start     float64 `json:"start"`
		End       float64 `json:"end"`
		Compacted float64 `json:"compacted"`
	} `json:"time"`
	Attachments []struct {
		MIME string `json:"mime"`
		URL  string `json:"url"`
	} `json:"attachments"`
}

// The states of a call, and the types of parts that are read.
const (
	statusCompleted = "completed"
	statusError     = "error"

	typeText       = "text"
	typeReasoning  = "reasoning"
	typeTool       = "tool"
	typeFile       = "file"
	typeCompaction = "compaction"
	typeSubtask    = "subtask"
	typeStepStart  = "step-start"
)

// What opencode sends in place of what is stored (toModelMessages in message-v2.ts).
const (
	sentCleared    = "[Old tool result content cleared]"
	sentCompaction = "What did we do so far?"
	sentSubtask    = "The following tool was executed by the user"
	aborted        = "MessageAbortedError"
	roleAssistant  = "assistant"
)

// decodeRows decodes the rows of a message.
func (m *stored) decodeRows() {
	if m.table == tableDraft {
		m.readDraft()
		return
	}
	if m.wrong, m.whole = decodeData(m.row, &m.info); m.wrong != "" && !m.whole {
		return
	}
	for i := range m.parts {
		p := &m.parts[i]
		row := *p
		if wrong, whole := decodeData(p.row, p); wrong != "" { // which may have left nothing of its row
			*p = row
			p.wrong, p.whole = wrong, whole
		}
	}
}

// decodeData reads the data of a row; whole says that it is JSON of a form that is not known.
func decodeData(row table.Image, into any) (wrong string, whole bool) {
	doc := column.Bytes(row["data"])
	if !jsonedit.IsWhole(doc) {
		return "it is not JSON, or it is cut off", false
	}
	if err := jsonscan.Exact.Unmarshal(doc, into); err != nil {
		return jsonscan.DescribeError(err, kindName), true
	}
	return "", false
}

// isFinal reports whether the part is a call that has its result, of a tool that opencode ran.
func (p *part) isFinal() bool {
	return p.Type == typeTool && !p.Metadata.Server && (p.State.Status == statusCompleted || p.State.Status == statusError)
}

// decodeItem decodes an event.
func (r *reader) decodeItem(row eventlog.Row, it *session.Item, body bool) (faults []session.Fault) {
	e := row.Value(eventlog.ColumnEvent).(event)
	at := times.Read(e.row["time_created"])
	if it.Time = at.Time; at.Wrong != "" && e.nth == 0 && e.table == tableMessages {
		faults = append(faults, session.Fault{Kind: session.BadTime, Field: "time_created", Detail: at.Wrong})
	}
	m := message{Item: it, reader: r, event: e}
	m.said.Reset(session.NoRole, "")
	p := e.eventPart()
	switch {
	case e.wrong != "":
		faults = append(faults, m.markBroken(e.wrong, e.whole))
	case e.table == tableDraft:
		faults = append(faults, m.readDraftEvent()...)
	case p != nil && p.wrong != "":
		faults = append(faults, m.markBroken(p.wrong, p.whole))
	case p != nil:
		m.makeResult(p.callResult())
	default:
		faults = append(faults, m.readMessage()...)
	}
	nul := eventlog.NulFaults(it, m.text, "data")
	if nul == nil && p != nil && showsNUL(p.State.Input) { // a result is in one row with the arguments of its call
		nul = []session.Fault{{Kind: session.NulCharacter, Field: "data"}}
	}
	faults = append(faults, nul...)
	m.Meaning = m.said.Digest()
	if e.table == tableDraft && r.both[e.session] { // opencode reads the other ones
		it.Flags |= session.Unshown
	}
	if body {
		it.Body = &session.Body{Text: m.text, Reasoning: m.reasoning, Raw: e.rawRecord()}
	}
	return faults
}

// showsNUL reports whether arguments hold U+0000, which JSON has as an escape only.
func showsNUL(args jsontext.Value) bool {
	return bytes.Contains(args, []byte(`\u0000`)) && !bytes.Equal(jsonedit.ShowNUL(args), args)
}

// rawRecord is the record of an event, without what a provider's headers may hold. A journal of
// undo has the rows themselves.
func (e event) rawRecord() []byte {
	image := table.Image{}
	for _, name := range eventColumns {
		if name != eventlog.ColumnEvent && name != eventlog.ColumnPosition {
			image[name] = e.ColumnValue(name)
		}
	}
	if doc := column.Bytes(image["data"]); e.nth == 0 && bytes.Contains(doc, []byte(`"error"`)) {
		for _, name := range []string{"responseHeaders", "responseBody"} {
			if without, err := jsonedit.SetValue(doc, "/error/data/"+name, nil); err == nil {
				doc = without
			}
		}
		image["data"] = string(doc)
	}
	text, _ := image.MarshalJSON() // never fails on values of rows
	return text
}

// message is an event while it is being read.
type message struct {
	*session.Item
	event
	reader          *reader
	text, reasoning string
	said            session.Meaning
	sends           bool // a part of it is sent
	plain           bool // its blocks tell no more than its text and calls
	solid           bool // it has another part than the beginning of a step and thoughts
	stays           bool // and one that is no empty text, which leaves when the message gets an end
}

// markBroken marks a record that opencode cannot load, and no session with it.
func (m *message) markBroken(why string, whole bool) session.Fault {
	m.Kind = session.Other
	m.addMeaning(m.ColumnValue("data"))
	return session.Fault{Kind: session.Undecodable, Field: "data", Detail: why, Whole: whole, Unloads: !whole}
}

func (m *message) addMeaning(values ...any) {
	for _, v := range values {
		m.said.AddDigest(session.DigestOf(column.View(v)))
	}
}

// makeResult makes an item with a result, which its agent's message holds.
func (m *message) makeResult(r session.Result) {
	m.said.Reset(session.Tool, "")
	m.addMeaning(r.CallID, r.Text, fmt.Sprint(r.IsError))
	m.Role, m.Shared.Agent, m.Shared.Invocation = session.Tool, m.info.Agent, m.info.Parent
	m.Results, m.Text, m.Size = []session.Result{r}, r.Digest, int64(len(r.Text))
	if m.info.Error != nil && m.info.Error.Name != aborted { // nor is its message sent
		m.Flags |= session.Skipped
	}
	if p := m.eventPart(); p != nil && p.State.Time.Compacted == 0 {
		for _, a := range p.State.Attachments {
			m.addMedia(a.MIME, a.URL)
		}
		if len(p.State.Attachments) > 0 {
			m.Blocks = append([]session.Block{{Kind: session.ResultBlock}}, m.Blocks...)
		}
	}
}

// callResult is what the model is told of a call.
func (p *part) callResult() session.Result {
	s := &p.State
	r := session.Result{CallID: p.CallID, Name: p.Tool, Text: s.Output, IsError: s.Status == statusError}
	output, told := s.Metadata.Output.(string)
	switch {
	case r.IsError && s.Metadata.Interrupted && told:
		r.Text, r.IsError = output, false
	case r.IsError:
		r.Text = s.Error
	case s.Time.Compacted != 0:
		r.Text = sentCleared
	}
	r.Digest, r.Synthetic = session.DigestOf(r.Text), session.IsPlaceholder(r.Text)
	if _, rest, wrapped := strings.Cut(r.Text, "<task_result>\n"); wrapped {
		answer, _, _ := strings.Cut(rest, "\n</task_result>")
		r.Answer = session.DigestOf(answer)
	}
	return r
}

// readMessage reads a message of a user or of the assistant.
func (m *message) readMessage() (faults []session.Fault) {
	m.Role, m.Shared.Agent, m.Shared.Model, m.Shared.Provider = session.ParseRole(m.info.Role), m.info.Agent, m.info.Model, m.info.By
	m.said.Reset(m.Role, m.info.Agent)
	m.addMeaning(m.info.Parent)
	if m.Shared.Invocation = m.info.Parent; m.Role == session.User { // home takes the agent away
		m.Shared.Model, m.Shared.Provider, m.Shared.Invocation = m.info.For.ID, m.info.For.By, m.id
	} else if m.Role != session.Assistant {
		m.Kind = session.Other
		faults = append(faults, session.Fault{Kind: session.UnknownKind, Field: m.info.Role, Detail: fmt.Sprintf("the message is of the unknown role %.40q, which opencode sends to no model", m.info.Role)})
	}
	m.plain = true
	apart, one := "", true
	for i := range m.parts {
		p := &m.parts[i]
		if other := column.Text(p.row["session_id"]); i == 0 {
			apart = other
		} else {
			one = one && other == apart
		}
		if p.wrong == "" {
			m.addPart(p)
		}
		silent := p.wrong != "" || p.Type == typeText && strings.TrimSpace(p.Text) == "" // which a repair may take out
		if other := column.View(p.row["session_id"]); other != m.session && !silent {
			faults = append(faults, session.Fault{Kind: session.CopiesDiffer, Field: "session_id",
				Detail: fmt.Sprintf("the message is in this session, and its part %s says session %.60s. opencode goes by the message", column.View(p.row["id"]), other)})
		}
	}
	if one && len(m.parts) > 0 && apart != m.session {
		m.reader.apart.Store(m.id, apart)
	}
	m.finishMessage()
	return faults
}

// addPart adds what one part says.
func (m *message) addPart(p *part) {
	solid := p.Type != typeStepStart && p.Type != typeReasoning
	m.solid, m.stays = m.solid || solid, m.stays || solid && (p.Type != typeText || p.Text != "")
	m.addMeaning(p.Type)
	switch p.Type {
	case typeText:
		m.addMeaning(p.Text)
		if !p.Ignored && (m.Role == session.Assistant || p.Text != "") {
			m.addText(p.Text)
		}
	case typeReasoning:
		m.addMeaning(p.Text)
		m.addReasoning(p.Text, cmp.Or(p.Metadata.Anthropic, p.Metadata.Bedrock))
	case typeTool: // of the user, opencode sends none
		if m.Role == session.Assistant {
			m.addCall(p)
		}
	case typeFile: // of the other types opencode stores the text as a part of its own
		if m.addMeaning(p.MIME, p.URL); p.MIME != "text/plain" && p.MIME != "application/x-directory" {
			m.addMedia(p.MIME, p.URL)
		}
	case typeCompaction:
		m.Flags |= session.SummaryTurn
		m.reader.tails.Store(m.id, p.Tail)
		m.addText(sentCompaction)
	case typeSubtask:
		m.addText(sentSubtask)
	}
}

// addText adds a text. Those of a user are parts of one message.
func (m *message) addText(text string) {
	if m.Role == session.User && m.text != "" {
		m.text += "\n"
	}
	m.text += text
	m.sends = true
	m.Blocks = append(m.Blocks, session.Block{Kind: session.TextBlock, Blank: strings.TrimSpace(text) == ""})
	m.Size += int64(len(text))
}

func (m *message) addReasoning(text string, by signed) {
	m.Blocks = append(m.Blocks, session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf(text), Signature: session.DigestOf(by.Signature + by.Redacted), Empty: text == "" && by.Redacted == ""})
	m.reasoning += text
	m.sends, m.plain, m.Size = true, false, m.Size+int64(len(text))
}

// addMedia adds a file.
func (m *message) addMedia(mime, url string) {
	b := session.Block{Kind: session.MediaBlock, Name: session.MediaName(mime)}
	if _, data, ok := strings.Cut(url, ";base64,"); ok {
		b = media.NewBlock(mime, data)
	}
	if m.Role == session.Tool {
		b.In = 1
	}
	m.Blocks = append(m.Blocks, b)
	m.sends, m.plain, m.Size = true, false, m.Size+int64(len(url))
}

// addCall adds a call, and of one that the provider ran the result.
func (m *message) addCall(p *part) {
	args := string(p.State.Input)
	c := session.Call{ID: p.CallID, Name: p.Tool, Args: args, Form: session.FormOf(args), Server: p.Metadata.Server}
	if p.Tool == "task" || p.Tool == "subagent" {
		c.Delegation = readDelegation(p.State.Input, p.State.Metadata.Child)
		if m.table == tableMessages {
			m.reader.ran.Store(fmt.Sprint(m.id, " ", len(m.Calls)), p.workTimes())
		}
	}
	m.addMeaning(c.ID, c.Name, c.Args)
	m.Blocks = append(m.Blocks, session.Block{Kind: session.CallBlock, Nth: len(m.Calls)})
	m.Calls = append(m.Calls, c)
	m.sends, m.Size = true, m.Size+int64(len(args))
	if c.Server && p.State.Status != "pending" && p.State.Status != "running" {
		r := p.callResult()
		r.Server = true
		m.Blocks = append(m.Blocks, session.Block{Kind: session.ResultBlock, Nth: len(m.Results)})
		m.Results = append(m.Results, r)
		m.addMeaning(r.Text)
	}
}

// readDelegation reads what a call says about the sub-session that it starts.
func readDelegation(input []byte, child string) *session.Delegation {
	var asked struct {
		Agent  string `json:"subagent_type"`
		Prompt string `json:"prompt"`
	}
	_ = jsonscan.Exact.Unmarshal(input, &asked)
	return &session.Delegation{Agent: asked.Agent, Task: session.DigestOf(asked.Prompt), Child: child, Blocking: true, Apart: true}
}

// workTimes is from when to when a call had its sub-session work. That of a call without a result
// worked until its runtime ended, whenever that was; so did one whose result a repair added,
// which ends when its row changed last.
func (p *part) workTimes() [2]float64 {
	end := p.State.Time.End
	if last := timeOf(p.row, "time_updated", "time_created"); !p.isFinal() || strconv.FormatFloat(end, 'f', -1, 64) == last {
		end = math.Inf(1)
	}
	began, _ := column.Int(p.row["time_created"]) // before its sub-session is; a copy of a session has later ones
	if start := p.State.Time.Start; start > 0 {
		began = min(began, int64(start))
	}
	return [2]float64{float64(began), end}
}

// finishMessage says what the parts make of the message, and what opencode leaves out: messages
// without parts that are sent, and answers with an error, but for those that a person
// stopped after they had said something.
func (m *message) finishMessage() {
	m.Text = session.DigestOf(m.text)
	m.Flags |= session.TextFlags(m.text)
	if strings.TrimSpace(m.text) == "" && len(m.Calls) == 0 && !m.HasBlock(session.MediaBlock) {
		m.Flags |= session.Blank
	}
	if !m.sends {
		m.Flags |= session.Skipped
	}
	if m.Role == session.Assistant {
		if m.info.Time.Completed == nil {
			m.Flags |= session.Unfinished
			m.reader.open.Store(m.id, (m.stays || m.info.Finish != "") && (m.text != "" || len(m.Calls) > 0 || m.HasBlock(session.ReasoningBlock) || m.HasBlock(session.MediaBlock)))
		}
		if m.info.Error != nil && (m.info.Error.Name != aborted || !m.solid) {
			m.Flags |= session.Skipped
		}
		if e := m.info.Error; e != nil && e.Name != aborted {
			status, _ := e.Data.Status.(float64)
			m.Shared.Refusal = session.RefusalOf(int(status), column.View(e.Data.Message))
		}
		if m.info.Summary == true && m.info.Finish != "" && m.info.Error == nil {
			m.Flags |= session.SummaryTurn
			m.reader.tails.Store(m.id, "")
		}
	}
	blank := func(b session.Block) bool { return b.Kind == session.TextBlock && b.Blank } // as a stream that was cut off leaves it
	if m.plain && !slices.ContainsFunc(m.Blocks, blank) {
		m.Blocks = nil
	}
}
