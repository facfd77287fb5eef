package adk

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

func (w *writer) result(f *functionResponse) {
	name, value := onlyMember(f.Response)
	text := ""
	if value.Kind() == jsontext.KindString {
		text = unquote(value)
	}
	r := session.Result{CallID: f.ID, Name: f.Name, Text: rawText(f.Response), IsError: isError(name, value), Synthetic: session.IsPlaceholder(text)}
	// The answer in the event that asks for a person's approval or for credentials
	// stands for one that comes later, under the same id (6.5).
	_, confirmed := w.waiting.RequestedToolConfirmations[f.ID]
	_, authorised := w.waiting.RequestedAuthConfigs[f.ID]
	r.Pending = confirmed || authorised
	if strings.HasPrefix(text, session.SyntheticPrefix) { // a repair wrote it, and means this text
		r.Text = text
		w.it.Flags |= session.Synthetic
	}
	w.addResult(r)
}

func (w *writer) addResult(r session.Result) {
	r.Digest = session.DigestOf(r.Text)
	w.size += int64(len(r.Text))
	w.it.Results = append(w.it.Results, r)
}

// isError reports whether a response is one that ADK makes of a failed tool: an
// object with the member "error" and no other (6.4). With others beside it, it is the
// tool's own answer, whatever it tells of.
func isError(name string, value jsontext.Value) bool {
	switch value.Kind() {
	case jsontext.KindNull, jsontext.KindFalse, 0:
		return false
	}
	return name == "error"
}

// onlyMember is the member of an object that has just one; the value is nil for
// everything else.
func onlyMember(v jsontext.Value) (name string, value jsontext.Value) {
	if v.Kind() != jsontext.KindBeginObject {
		return "", nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v), goJSON)
	if _, err := dec.ReadToken(); err != nil || dec.PeekKind() != jsontext.KindString {
		return "", nil
	}
	token, err := dec.ReadToken()
	if err != nil {
		return "", nil
	}
	name = token.String()
	if value, err = dec.ReadValue(); err != nil {
		return "", nil
	}
	value = value.Clone()
	if dec.PeekKind() != jsontext.KindEndObject {
		return "", nil
	}
	return name, value
}
