package openaiagents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/media"
)

// item is a row as it is sent: an input item of the Responses API.
type item struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	ID        string         `json:"id"`
	Call      *string        `json:"call_id"`
	Name      string         `json:"name"`
	Content   jsontext.Value `json:"content"`
	Summary   []part         `json:"summary"`
	Encrypted string         `json:"encrypted_content"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Action    jsontext.Value `json:"action"`
	Operation jsontext.Value `json:"operation"`
	Output    jsontext.Value `json:"output"`
	Envelope  jsontext.Value `json:"__enc__"` // of EncryptedSession
}

// part is a part of a message, of a thought, or of a result.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Refusal  string `json:"refusal"`
	Image    string `json:"image_url"`
	File     string `json:"file_data"`
	FileName string `json:"filename"`
	Audio    struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
}

// The types that are told apart. A message of the user has none.
const (
	typeMessage   = "message"
	typeReasoning = "reasoning"
	typeCall      = "function_call"
	outputSuffix  = "_output"
)

// outputs are the types of calls with those of their results (_TOOL_CALL_TO_OUTPUT_TYPE of the SDK). A
// program is none here: what it calls names it, and it may end without a result.
var outputs = map[string]string{
	typeCall: "function_call_output", "custom_tool_call": "custom_tool_call_output", "shell_call": "shell_call_output", "local_shell_call": "local_shell_call_output",
	"apply_patch_call": "apply_patch_call_output", "computer_call": "computer_call_output", "tool_search_call": "tool_search_output",
}

// hosted are the types of what the provider runs itself, and of other items without a half.
var hosted = []string{
	"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
	"program", "program_output", "tool_search_call", "tool_search_output", "compaction", "item_reference",
}

// parseItem parses a row. The SDK passes over what is no JSON.
func parseItem(doc []byte) (x item, f *session.Fault) {
	err := jsonscan.Exact.Unmarshal(doc, &x)
	whole := err != nil && jsonedit.IsWhole(doc)
	switch {
	case !utf8.Valid(doc):
		f = &session.Fault{Detail: "it has bytes that are not UTF-8, and the SDK cannot read the session", Unloads: true}
	case err != nil && !whole:
		f = &session.Fault{Detail: jsonscan.DescribeError(err, kindTitle) + ", and the SDK passes over it", Passed: true}
	case err != nil:
		f = &session.Fault{Detail: jsonscan.DescribeError(err, kindTitle), Whole: true}
	case x.Envelope != nil:
		return x, &session.Fault{Kind: session.SchemaUnknown, Harmless: true, Detail: "encrypted"}
	case x.isMessage() && session.ParseRole(x.Role) == session.NoRole:
		f = &session.Fault{Detail: fmt.Sprintf("it is of no known type, and of the role %.40q", x.Role), Whole: true}
	default:
		return x, nil
	}
	f.Kind, f.Field = session.Undecodable, fieldData
	return x, f
}

func (x *item) isMessage() bool { return x.Type == "" || x.Type == typeMessage }

// callID is the id of a call or result, "" for none.
func (x *item) callID() string {
	if x.Call == nil {
		return ""
	}
	return *x.Call
}

// argsText is what a call is made with.
func (x *item) argsText() string {
	for _, value := range []jsontext.Value{x.Arguments, x.Input, x.Action, x.Operation} {
		if value != nil {
			return textOf(value)
		}
	}
	return ""
}

// textOf is a string as it is, and any other value as JSON.
func textOf(value jsontext.Value) string {
	if value.Kind() != jsontext.KindString {
		return string(value)
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

// partsOf are the parts of a content: a text, or a list.
func partsOf(value jsontext.Value) (parts []part) {
	if value.Kind() == jsontext.KindString {
		return []part{{Type: "input_text", Text: textOf(value)}}
	}
	_ = jsonscan.Exact.Unmarshal(value, &parts) // what is no list of parts has none
	return parts
}

// reading is a row while it is being read.
type reading struct {
	*session.Item
	text, reasoning string
	said            session.Meaning
}

// decodeRow decodes an event.
func (j *joined) decodeRow(row eventlog.Row, it *session.Item, body bool) (faults []session.Fault) {
	it.Time, it.Branch = times.Read(row.Value("created_at")).Time, column.Text(row.Value(fieldBranch))
	if place, _ := column.Int(row.Value(fieldPlace)); isUnnamed(place) {
		it.Flags |= session.Unshown
	}
	doc := column.Bytes(row.Value(fieldData))
	x, wrong := parseItem(doc)
	m := reading{Item: it}
	m.said.Reset(session.NoRole, x.Type+"\x00"+x.Role)
	if wrong != nil {
		it.Kind = session.Other
		m.said.AddDigest(session.DigestOf(doc))
		faults = append(faults, *wrong)
	} else {
		m.readItem(&x)
		faults = append(faults, eventlog.NulFaults(it, m.text, fieldData)...)
	}
	it.Meaning = m.said.Digest()
	if body {
		it.Body = &session.Body{Text: m.text, Reasoning: m.reasoning, Raw: row.Record(rowColumns(j, row))}
	}
	return faults
}

// rowColumns are the columns that a row has of its own.
func rowColumns(j *joined, row eventlog.Row) []string {
	for i := range j.pairs {
		if len(j.pairs) == 1 || j.pairs[i].messages == column.View(row.Value(fieldPair)) {
			return j.pairs[i].columns
		}
	}
	return messageColumns
}

// readItem reads what is sent.
func (m *reading) readItem(x *item) {
	_, made := outputs[x.Type]
	m.Role = session.Assistant
	switch {
	case x.isMessage():
		m.Role = session.ParseRole(x.Role)
		m.addParts(partsOf(x.Content), 0)
		m.Flags |= session.TextFlags(m.text)
		if strings.TrimSpace(m.text) == "" && !m.HasBlock(session.MediaBlock) {
			m.Flags |= session.Blank
		}
	case x.Type == typeReasoning:
		for _, p := range append(x.Summary, partsOf(x.Content)...) {
			m.reasoning += p.Text
		}
		text := session.DigestOf(m.reasoning)
		m.Blocks = []session.Block{{Kind: session.ReasoningBlock, ID: x.ID, Text: text, Signature: session.DigestOf(x.Encrypted), Empty: m.reasoning == ""}}
	case made && x.Call != nil:
		args := x.argsText()
		c := session.Call{ID: *x.Call, Name: x.Name, Args: args}
		b := session.Block{Kind: session.CallBlock, ID: x.ID}
		if x.Type == typeCall {
			c.Form = eventlog.FormOf(args)
		} else {
			b.Name, c.Name = x.Type, cmp.Or(c.Name, strings.TrimSuffix(x.Type, "_call")) // insertResult asks for it
		}
		m.Calls, m.Blocks, m.Size = []session.Call{c}, []session.Block{b}, int64(len(args))
	case x.Call != nil && strings.HasSuffix(x.Type, outputSuffix):
		m.Role = session.Tool
		m.addResult(x)
	case !slices.Contains(hosted, x.Type):
		m.Blocks = []session.Block{{Kind: session.UnknownBlock, Name: x.Type, ID: x.ID}}
	case x.Type == "mcp_approval_response":
		m.Role = session.User
	}
	if m.Text = session.DigestOf(m.text); m.Role == session.Tool {
		m.Text = m.Results[0].Digest
	}
	m.Size += int64(len(m.text) + len(m.reasoning))
	for _, text := range []string{x.ID, x.callID(), x.Name, m.text, m.reasoning, x.Encrypted, x.argsText(), string(x.Output)} {
		m.said.AddDigest(session.DigestOf(text))
	}
}

// addParts adds the texts and files of a message, or of the result with a number.
func (m *reading) addParts(parts []part, of int) (text string) {
	for _, p := range parts {
		said := p.Text + p.Refusal
		text = strings.TrimPrefix(text+"\n"+said, "\n")
		file, label := p.Image+p.File+p.Audio.Data, ""
		if inline, data := media.SplitDataURL(file); data != "" {
			label, file = inline, data
		}
		switch {
		case strings.HasSuffix(p.Type, "_text") || p.Type == "refusal":
			m.Blocks = append(m.Blocks, session.Block{Kind: session.TextBlock, Blank: strings.TrimSpace(said) == "", In: of})
			continue
		case strings.HasSuffix(p.Type, "_audio"):
			label = "audio/" + p.Audio.Format
		case !strings.HasSuffix(p.Type, "_image") && !strings.HasSuffix(p.Type, "_file") && !strings.HasSuffix(p.Type, "_screenshot"):
			m.Blocks = append(m.Blocks, session.Block{Kind: session.UnknownBlock, Name: p.Type, In: of})
			continue
		case strings.HasSuffix(p.Type, "_file") && label == "":
			label = "application/octet-stream"
		}
		b := session.Block{Kind: session.MediaBlock, Name: session.MediaName(label)}
		if file != "" && !strings.Contains(file, "://") {
			b = media.NewBlock(label, file)
		}
		b.In = of
		m.Blocks, m.Size = append(m.Blocks, b), m.Size+int64(len(file))
		m.said.AddDigest(session.DigestOf(file))
	}
	if of == 0 {
		m.text = text
	}
	return text
}

// addResult adds a result: a text, a list of parts, or what a shell printed.
func (m *reading) addResult(x *item) {
	m.Blocks = []session.Block{{Kind: session.ResultBlock}}
	text := textOf(x.Output)
	if x.Type == outputs[typeCall] && x.Output.Kind() == jsontext.KindBeginArray {
		text = m.addParts(partsOf(x.Output), 1)
	}
	r := session.Result{CallID: x.callID(), Name: x.Name, Text: text, Digest: session.DigestOf(text), Synthetic: isPlaceholder(x.Output, text), Null: x.Output == nil}
	r.IsError = r.Synthetic // nothing else says so
	m.Results, m.Size = []session.Result{r}, m.Size+int64(len(text))
}

// isPlaceholder reports whether a result stands in for one that was lost, also in what a shell printed.
func isPlaceholder(output jsontext.Value, text string) bool {
	var printed []struct {
		Err string `json:"stderr"`
	}
	if output.Kind() == jsontext.KindBeginArray && jsonscan.Exact.Unmarshal(output, &printed) == nil && len(printed) == 1 {
		text = printed[0].Err
	}
	return session.IsPlaceholder(text)
}

// finishSession makes one fault of all messages that are encrypted.
func finishSession(s *session.Session) {
	encrypted := 0
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f session.Fault) bool {
		mine := f.Kind == session.SchemaUnknown && f.Item >= 0
		if mine {
			encrypted++
		}
		return mine
	})
	if encrypted > 0 {
		s.Faults = append(s.Faults, session.Fault{
			Kind: session.SchemaUnknown, Ref: s.Ref(), Item: -1, Count: encrypted, Harmless: true,
			Detail: fmt.Sprintf("%d of %d messages of the session are encrypted (EncryptedSession): sessctl cannot read them, and nothing that it says is about them", encrypted, len(s.Items)),
		})
	}
}
