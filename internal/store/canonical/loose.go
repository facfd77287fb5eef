package canonical

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// textMember is a text that can be null, which says that the store holds null
// there. Absent, it is the empty text.
type textMember struct {
	string
	null bool
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *textMember) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*t = textMember{null: dec.PeekKind() == jsontext.KindNull}
	return json.UnmarshalDecode(dec, &t.string)
}

// MarshalJSONTo implements json.MarshalerTo.
func (t textMember) MarshalJSONTo(enc *jsontext.Encoder) error {
	if t.null {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.String(t.string))
}

// looseText is a member that should be a JSON string. Anything else is taken as
// its JSON text, so that arguments given as an object are read, and a time given
// as a number is reported, without losing the item.
type looseText string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *looseText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case '"':
		*t = looseText(unquote(v))
	case 'n':
		*t = ""
	default:
		*t = looseText(scrubbed(v)) // as the decoder does with a string
	}
	return nil
}

// unquote is the text of a JSON string that a decoder accepted. Its error would
// be about bad UTF-8, which the decoder has judged already.
func unquote(v jsontext.Value) []byte {
	text, _ := jsontext.AppendUnquote(nil, v)
	return text
}

// branchLabel is the branch of an item: a path, or the compact JSON of one of
// the object forms. These stand side by side in session.Item.Branch, because no
// path is a JSON object.
type branchLabel struct {
	text  string
	wrong bool // neither a string nor one of the object forms
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (b *branchLabel) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case v.Kind() == '"':
		*b = branchLabel{text: string(unquote(v))}
	case v.Kind() == 'n':
		*b = branchLabel{}
	case isBranchObject(v):
		v = v.Clone()
		if err := v.Compact(); err != nil {
			return err
		}
		*b = branchLabel{text: string(v)}
	default:
		*b = branchLabel{wrong: true}
	}
	return nil
}

// MarshalJSONTo implements json.MarshalerTo.
func (b branchLabel) MarshalJSONTo(enc *jsontext.Encoder) error {
	if isBranchObject(jsontext.Value(b.text)) {
		return enc.WriteValue(jsontext.Value(b.text))
	}
	return enc.WriteToken(jsontext.String(b.text))
}

// isBranchObject knows {"tokens":[…]} and {"active_forks":{…}}.
func isBranchObject(v jsontext.Value) bool {
	if v.Kind() != '{' {
		return false
	}
	form, usable, _ := decode[struct {
		Tokens []int64        `json:"tokens"`
		Forks  jsontext.Value `json:"active_forks"`
	}](v)
	return usable && (form.Tokens != nil || form.Forks.Kind() == '{')
}
