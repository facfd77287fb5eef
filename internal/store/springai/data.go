package springai

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// tolerant is how Java's reader takes JSON: of doubled names the last one counts,
// and nobody looks whether a text is Unicode.
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// part is an element of message_data: a call of an ASSISTANT, or the response to
// one of a TOOL. What is not here is passed over, as the reader does (b).
type part struct {
	ID        value `json:"id"`
	Name      value `json:"name"`
	Arguments value `json:"arguments"`    // of a call: JSON in a text
	Response  value `json:"responseData"` // of a response
}

// value is a stored text.
type value struct {
	text  string
	there bool // and not null
	bad   bool // the text is no Unicode
}

// UnmarshalJSONFrom reads what Java's reader takes for a text: one, a number, true
// or false, null.
func (v *value) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return errors.New("a text is expected")
	case jsontext.KindNull:
		*v = value{}
	case jsontext.KindString:
		text, bad := unquoted(raw)
		*v = value{text, true, bad}
	default:
		*v = value{text: string(raw), there: true}
	}
	return nil
}

// data is what message_data holds.
type data struct {
	parts  []part
	listed bool // there is a list, be it empty
}

// parseData reads message_data; wrong says what the reader fails on. It goes on
// with an empty list then.
func parseData(text string) (d data, wrong string) {
	if strings.TrimSpace(text) == "" {
		return data{}, ""
	}
	if err := json.Unmarshal([]byte(text), &d.parts, tolerant); err != nil {
		return data{}, "it is no list of calls or responses; the reader goes on with an empty one"
	}
	d.listed = d.parts != nil
	return d, ""
}

// data reads message_data where the role has a use for it.
func (e *event) data(role session.Role) data {
	if role != session.Assistant && role != session.Tool {
		return data{}
	}
	text, _ := textOf(e.value("message_data"))
	d, wrong := parseData(text)
	if wrong != "" {
		e.unknown("message_data", wrong, jsonedit.Whole([]byte(text)))
	}
	for _, p := range d.parts {
		if p.ID.bad || p.Name.bad || p.Arguments.bad || p.Response.bad {
			e.fault(session.BadUnicode, "message_data", illegible, nil)
			break
		}
	}
	return d
}

// said is what an event says.
type said struct {
	content string
	data
}

// outline describes it in an item whose kind, role and agent are known. kind is
// the stored message type.
func (s *said) outline(it *session.Item, kind string) {
	var m session.Meaning
	m.Reset(it.Role, it.Agent)
	if it.Role == session.NoRole {
		m.Add(session.DigestOf(kind))
	}
	it.Text, it.Size = session.DigestOf(s.content), int64(len(s.content))
	m.Add(it.Text)
	for i := range s.parts {
		p := &s.parts[i]
		m.Mark('p')
		for _, text := range []string{p.ID.text, p.Name.text, p.Arguments.text, p.Response.text} {
			m.Add(session.DigestOf(text))
		}
		if it.Role == session.Tool {
			it.Results = append(it.Results, p.result())
			it.Size += int64(len(p.Response.text))
		} else {
			it.Calls = append(it.Calls, session.Call{ID: p.ID.text, Name: p.Name.text, Form: session.FormOf(p.Arguments.text)})
			it.Size += int64(len(p.Arguments.text))
		}
	}
	it.Meaning = m.Digest()
	if len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	it.Flags |= s.flags(it)
}

// flags are what the texts and lists give an item. Responses have no text beside
// theirs.
func (s *said) flags(it *session.Item) session.Flags {
	var flags session.Flags
	if it.Role != session.Tool {
		flags = session.TextFlags(s.content)
	}
	if it.Kind == session.Message && strings.TrimSpace(s.content) == "" && len(s.parts) == 0 {
		flags |= session.Blank
	}
	if it.Role == session.Assistant && s.listed && len(s.parts) == 0 {
		flags |= session.EmptyCalls
	}
	return flags
}

// result is a response. One that sessctl added tells of a failure, and the store
// has no other place for that.
func (p *part) result() session.Result {
	text := p.Response.text
	return session.Result{
		CallID: p.ID.text, Name: p.Name.text, Digest: session.DigestOf(text), Null: !p.Response.there,
		IsError: strings.HasPrefix(text, session.SyntheticPrefix), Synthetic: session.IsPlaceholder(text),
	}
}

// fill gives an item its texts.
func (s *said) fill(it *session.Item) {
	it.Body.Text = strings.Clone(s.content)
	for i := range s.parts {
		if it.Role == session.Tool {
			it.Results[i].Text = s.parts[i].Response.text
		} else {
			it.Calls[i].Args = s.parts[i].Arguments.text
		}
	}
}
