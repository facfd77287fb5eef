package events

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
)

// fills take what an event of a kind says besides what all have.
var fills = [...]func(*Reader, *object, *recording.Event){
	recording.UserMessage:    (*Reader).takeUserMessage,
	recording.Choice:         textIn(keyContent),
	recording.Reasoning:      textIn(keyContent),
	recording.PartialCall:    (*Reader).takeCall,
	recording.CallStarted:    (*Reader).takeCall,
	recording.CallAnswered:   (*Reader).takeAnswer,
	recording.ChildCompleted: (*Reader).takeChild,
	recording.TokenUsage:     (*Reader).takeUsage,
	recording.TitleSet:       textIn(keyTitle),
	recording.Summarized:     (*Reader).takeSummary,
	recording.Switched:       (*Reader).takeSwitch,
	recording.Failed:         textIn(keyError),
}

// fillEvent makes an event of its members.
func (r *Reader) fillEvent(o *object, line int64, e *recording.Event) {
	*e = recording.Event{
		Line: line, Name: r.internName(o, keyType), Agent: r.internName(o, keyAgent), Session: r.internName(o, keySession),
	}
	e.Kind = kinds[e.Name]
	if t := o[keyTime]; t.Kind() == '"' {
		_ = e.Time.UnmarshalText(unquotedText(t)) // what is no time stays zero
	}
	if int(e.Kind) < len(fills) && fills[e.Kind] != nil {
		fills[e.Kind](r, o, e)
	}
}

func textIn(k key) func(*Reader, *object, *recording.Event) {
	return func(r *Reader, o *object, e *recording.Event) {
		if !r.Shallow {
			e.Text = textOf(o[k])
		}
	}
}

// takeUserMessage takes the text parts where there is no text, as docker agent's
// adapter does with stored messages.
func (r *Reader) takeUserMessage(o *object, e *recording.Event) {
	e.Text, e.Position = textOf(o[keyMessage]), numberOf(o[keyPosition], -1)
	if e.Text != "" || r.Shallow {
		return
	}
	var parts []string
	for _, value := range r.parse.readElements(o[keyMultiContent]) {
		var part object
		r.parse.readInner(value, &part)
		if text := textOf(part[keyText]); text != "" {
			parts = append(parts, text)
		}
	}
	e.Text = strings.Join(parts, "\n")
}

// takeCall takes a call. In a stream the arguments of a call come in pieces (from
// v1.34.0, #2163) or grow, so they say whom a partial one asks only once they are
// whole.
func (r *Reader) takeCall(o *object, e *recording.Event) {
	e.Call = r.callOf(o)
	c := &e.Call
	c.Form = session.FormOf(c.Args)
	if e.Kind == recording.CallStarted || c.Args != "" && c.Form != session.ArgsBroken {
		c.Delegation = session.DelegationFor(c.Name, c.Args)
	}
}

func (r *Reader) callOf(o *object) session.Call {
	var call, function object
	r.parse.readInner(o[keyToolCall], &call)
	r.parse.readInner(call[keyFunction], &function)
	return session.Call{ID: textOf(call[keyID]), Name: r.internName(&function, keyName), Args: textOf(function[keyArguments])}
}

// takeAnswer takes a result. Until v1.33 it holds its call, from v1.34.0 (#2163) the
// call's id and the tool's definition.
func (r *Reader) takeAnswer(o *object, e *recording.Event) {
	e.Call, e.Text = r.callOf(o), textOf(o[keyResponse])
	if o[keyCallID] != nil {
		e.Call.ID = textOf(o[keyCallID])
	}
	var definition, result object
	if e.Call.Name == "" {
		r.parse.readInner(o[keyToolDefinition], &definition)
		e.Call.Name = r.internName(&definition, keyName)
	}
	r.parse.readInner(o[keyResult], &result)
	e.IsError = result[keyIsError].Kind() == 't' || o[keyIsError].Kind() == 't'
}

func (r *Reader) takeChild(o *object, e *recording.Event) {
	e.Session = r.internName(o, keyParentSession)
	if r.Shallow {
		var child object
		r.parse.readInner(o[keySubSession], &child)
		if id := r.internName(&child, keyID); id != "" {
			e.Child = &session.Tree{Sessions: []*session.Session{{ID: id}}}
		}
		return
	}
	tree, err := dockeragent.DecodeNested(o[keySubSession])
	if err != nil {
		r.skipLine(e.Line, "its sub-session cannot be read: "+err.Error())
		return
	}
	e.Child = tree
}

func (r *Reader) takeUsage(o *object, e *recording.Event) {
	var usage, last object
	r.parse.readInner(o[keyUsage], &usage)
	r.parse.readInner(usage[keyLastMessage], &last)
	e.Model = r.internName(&last, keyModel)
}

func (r *Reader) takeSummary(o *object, e *recording.Event) {
	e.Text, e.KeptFrom = textOf(o[keySummary]), numberOf(o[keyFirstKept], 0)
}

func (r *Reader) takeSwitch(o *object, e *recording.Event) {
	e.Start, e.From, e.To = o[keySwitching].Kind() == 't', r.internName(o, keyFrom), r.internName(o, keyTo)
}

// textOf is the text of a string, "" for any other value.
func textOf(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	return string(unquotedText(v))
}

// numberOf is a whole number; instead stands for any other value.
func numberOf(v jsontext.Value, instead int64) int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return instead
	}
	return n
}

// kinds are the types of events and what they mean to the model. Source:
// docker/docker-agent, pkg/runtime/event.go, v1.20.0 to v1.32.3, and what later
// versions were seen to write. All others are OtherEvents: what screens show, and
// types that are not known.
var kinds = map[string]recording.EventKind{
	"user_message":           recording.UserMessage,
	"stream_started":         recording.StreamStarted,
	"stream_stopped":         recording.StreamStopped,
	"agent_choice":           recording.Choice,
	"agent_choice_reasoning": recording.Reasoning,
	"partial_tool_call":      recording.PartialCall,
	"tool_call":              recording.CallStarted,
	"tool_call_confirmation": recording.CallStarted,
	"hook_blocked":           recording.CallStarted,
	"tool_call_response":     recording.CallAnswered,
	"message_added":          recording.MessageAdded,
	"sub_session_completed":  recording.ChildCompleted,
	"token_usage":            recording.TokenUsage,
	"session_title":          recording.TitleSet,
	"session_summary":        recording.Summarized,
	"agent_switching":        recording.Switched,
	"error":                  recording.Failed,
	"model_fallback":         recording.Restarted,
}

// tolerant takes what encoding/json takes, with which docker agent reads: doubled
// names (the last one counts) and text that is not UTF-8 (U+FFFD in its place).
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// key names a member of an event, or of an object in one, that is looked at.
type key uint8

const (
	keyAgent key = iota
	keyArguments
	keyCallID
	keyContent
	keyError
	keyFirstKept
	keyFrom
	keyFunction
	keyID
	keyIsError
	keyLastMessage
	keyMessage
	keyModel
	keyMultiContent
	keyName
	keyParentSession
	keyPosition
	keyResponse
	keyResult
	keySession
	keySubSession
	keySummary
	keySwitching
	keyText
	keyTime
	keyTitle
	keyTo
	keyToolCall
	keyToolDefinition
	keyType
	keyUsage
	keyCount
)

// keys are the names of the members, exactly as docker agent writes them.
var keys = indexKeys(map[string]key{
	"Model":             keyModel,
	"agent_name":        keyAgent,
	"arguments":         keyArguments,
	"content":           keyContent,
	"error":             keyError,
	"first_kept_entry":  keyFirstKept,
	"from_agent":        keyFrom,
	"function":          keyFunction,
	"id":                keyID,
	"isError":           keyIsError,
	"last_message":      keyLastMessage,
	"message":           keyMessage,
	"multi_content":     keyMultiContent,
	"name":              keyName,
	"parent_session_id": keyParentSession,
	"response":          keyResponse,
	"result":            keyResult,
	"session_id":        keySession,
	"session_position":  keyPosition,
	"sub_session":       keySubSession,
	"summary":           keySummary,
	"switching":         keySwitching,
	"text":              keyText,
	"timestamp":         keyTime,
	"title":             keyTitle,
	"to_agent":          keyTo,
	"tool_call":         keyToolCall,
	"tool_call_id":      keyCallID,
	"tool_definition":   keyToolDefinition,
	"type":              keyType,
	"usage":             keyUsage,
})

func indexKeys(all map[string]key) (names jsonscan.Names[key]) {
	for name, k := range all {
		names.Set(name, k)
	}
	return names
}

// object holds the values of the members as they stand in the line, nil for
// those that are not there.
type object [keyCount]jsontext.Value

// parser splits JSON objects into their members and decodes no value of them.
type parser struct {
	dec jsontext.Decoder
	buf bytes.Buffer
}

var errNoObject = errors.New("it is not a JSON object")

// readObject reads an object that is all of data. The values point into data.
func (p *parser) readObject(data []byte, o *object) error {
	*o = object{}
	if splitMembers(data, o) {
		return nil
	}
	return p.readExactly(data, o)
}

// splitMembers finds the members in one pass. It is false for what is no object and for forms that
// exact decides about.
func splitMembers(data []byte, o *object) bool {
	s := jsonscan.NewScanner(data)
	return s.VisitMembers(func(name []byte) bool {
		value, ok := s.ReadValue()
		if k := jsonscan.FindName(&keys, name); k != nil { // the last one counts
			o[*k] = value
		}
		return ok
	}) && data[len(data)-1] == '}' && s.IsAtEnd()
}

// readExactly reads the reference for what split finds, and says what is wrong.
func (p *parser) readExactly(data []byte, o *object) error {
	*o = object{}
	p.reset(data)
	if p.dec.PeekKind() != '{' {
		return errNoObject
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() == '"' {
		if err := p.readMember(data, o); err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil { // the closing brace
		return err
	}
	if end := p.dec.InputOffset(); end < int64(len(data)) {
		return fmt.Errorf("something follows the JSON object, which ends at byte %d", end)
	}
	return nil
}

func (p *parser) readMember(data []byte, o *object) error {
	name, err := p.dec.ReadValue()
	if err != nil {
		return err
	}
	k := jsonscan.FindName(&keys, unquotedText(name))
	value, err := p.dec.ReadValue()
	if err != nil {
		return err
	}
	if k != nil {
		end := int(p.dec.InputOffset())
		o[*k] = data[end-len(value) : end : end]
	}
	return nil
}

// readInner reads an object within an event that was read; what is none has no
// members.
func (p *parser) readInner(value jsontext.Value, o *object) {
	if p.readObject(value, o) != nil {
		*o = object{}
	}
}

// readElements reads the elements of an array within an event that was read.
func (p *parser) readElements(array jsontext.Value) (list []jsontext.Value) {
	if array.Kind() != '[' {
		return nil
	}
	p.reset(array)
	_, err := p.dec.ReadToken()
	for err == nil && p.dec.PeekKind() != ']' {
		var value jsontext.Value
		value, err = p.dec.ReadValue()
		end := int(p.dec.InputOffset())
		list = append(list, array[end-len(value):end:end])
	}
	return list
}

func (p *parser) reset(data []byte) {
	p.buf = *bytes.NewBuffer(data)
	p.dec.Reset(&p.buf, tolerant)
}

// unquotedText is the text of a string, without a copy where it stands there as it is.
func unquotedText(s jsontext.Value) []byte {
	if inner := s[1 : len(s)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	plain, _ := jsontext.AppendUnquote(nil, s) // what is no UTF-8 becomes U+FFFD
	return plain
}
