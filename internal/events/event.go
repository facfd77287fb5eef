package events

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
)

// fills take what an event of a kind says besides what all have.
var fills = [...]func(*Reader, *object, *recording.Event){
	recording.UserMessage:    (*Reader).userMessage,
	recording.Choice:         textIn(keyContent),
	recording.Reasoning:      textIn(keyContent),
	recording.PartialCall:    (*Reader).call,
	recording.CallStarted:    (*Reader).call,
	recording.CallAnswered:   (*Reader).answer,
	recording.ChildCompleted: (*Reader).child,
	recording.TokenUsage:     (*Reader).usage,
	recording.TitleSet:       textIn(keyTitle),
	recording.Summarized:     (*Reader).summary,
	recording.Switched:       (*Reader).switched,
	recording.Failed:         textIn(keyError),
}

// fill makes an event of its members.
func (r *Reader) fill(o *object, line int64, e *recording.Event) {
	*e = recording.Event{
		Line: line, Name: r.name(o[keyType]), Agent: r.name(o[keyAgent]), Session: r.name(o[keySession]),
	}
	e.Kind = kinds[e.Name]
	if t := o[keyTime]; t.Kind() == '"' {
		_ = e.Time.UnmarshalText(unquoted(t)) // what is no time stays zero
	}
	if int(e.Kind) < len(fills) && fills[e.Kind] != nil {
		fills[e.Kind](r, o, e)
	}
}

func textIn(k key) func(*Reader, *object, *recording.Event) {
	return func(_ *Reader, o *object, e *recording.Event) { e.Text = textOf(o[k]) }
}

// userMessage takes the text parts where there is no text, as docker agent's
// adapter does with stored messages.
func (r *Reader) userMessage(o *object, e *recording.Event) {
	e.Text, e.Position = textOf(o[keyMessage]), numberOf(o[keyPosition], -1)
	if e.Text != "" {
		return
	}
	var parts []string
	for _, value := range r.parse.elements(o[keyMultiContent]) {
		var part object
		r.parse.inner(value, &part)
		if text := textOf(part[keyText]); text != "" {
			parts = append(parts, text)
		}
	}
	e.Text = strings.Join(parts, "\n")
}

// call takes a call. In a stream the arguments of a call come in pieces (from
// v1.34.0, #2163) or grow, so they say whom a partial one asks only once they are
// whole.
func (r *Reader) call(o *object, e *recording.Event) {
	e.Call = r.callOf(o)
	c := &e.Call
	c.Form = session.FormOf(c.Args)
	if e.Kind == recording.CallStarted || c.Args != "" && c.Form != session.ArgsBroken {
		c.Delegation = session.DelegationFor(c.Name, c.Args)
	}
}

func (r *Reader) callOf(o *object) session.Call {
	var call, function object
	r.parse.inner(o[keyToolCall], &call)
	r.parse.inner(call[keyFunction], &function)
	return session.Call{ID: textOf(call[keyID]), Name: r.name(function[keyName]), Args: textOf(function[keyArguments])}
}

// answer takes a result. Until v1.33 it holds its call, from v1.34.0 (#2163) the
// call's id and the tool's definition.
func (r *Reader) answer(o *object, e *recording.Event) {
	e.Call, e.Text = r.callOf(o), textOf(o[keyResponse])
	if o[keyCallID] != nil {
		e.Call.ID = textOf(o[keyCallID])
	}
	var definition, result object
	if e.Call.Name == "" {
		r.parse.inner(o[keyToolDefinition], &definition)
		e.Call.Name = r.name(definition[keyName])
	}
	r.parse.inner(o[keyResult], &result)
	e.IsError = result[keyIsError].Kind() == 't' || o[keyIsError].Kind() == 't'
}

func (r *Reader) child(o *object, e *recording.Event) {
	e.Session = r.name(o[keyParentSession])
	if r.Shallow {
		var child object
		r.parse.inner(o[keySubSession], &child)
		if id := r.name(child[keyID]); id != "" {
			e.Child = &session.Tree{Sessions: []*session.Session{{ID: id}}}
		}
		return
	}
	tree, err := dockeragent.Nested(o[keySubSession])
	if err != nil {
		r.skip(e.Line, "its sub-session cannot be read: "+err.Error())
		return
	}
	e.Child = tree
}

func (r *Reader) usage(o *object, e *recording.Event) {
	var usage, last object
	r.parse.inner(o[keyUsage], &usage)
	r.parse.inner(usage[keyLastMessage], &last)
	e.Model = r.name(last[keyModel])
}

func (r *Reader) summary(o *object, e *recording.Event) {
	e.Text, e.KeptFrom = textOf(o[keySummary]), numberOf(o[keyFirstKept], 0)
}

func (r *Reader) switched(o *object, e *recording.Event) {
	e.Start, e.From, e.To = o[keySwitching].Kind() == 't', r.name(o[keyFrom]), r.name(o[keyTo])
}

// textOf is the text of a string, "" for any other value.
func textOf(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	return string(unquoted(v))
}

// numberOf is a whole number; instead stands for any other value.
func numberOf(v jsontext.Value, instead int64) int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return instead
	}
	return n
}
