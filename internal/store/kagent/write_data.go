package kagent

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/store/table"
)

// document is what a column data holds, while it is being changed: a JSON object, or a
// JSON string that holds one (b1).
type document struct {
	stored any
	quoted bool
	was    []byte // the object
	is     []byte
}

// openDocument refuses what is no object. So it does a string with halves of
// surrogate pairs, which could not be written as it was.
func openDocument(stored any) (*document, error) {
	data := bytesOf(stored)
	d := &document{stored: stored, was: data}
	if text, ok := jsonedit.Raw(data, ""); ok && jsontext.Value(text).Kind() == jsontext.KindString {
		d.quoted = true
		var err error
		if d.was, err = jsontext.AppendUnquote(nil, text); err != nil {
			return nil, errors.New("its data is a string that is no Unicode text")
		}
	}
	if doc := jsontext.Value(d.was); doc.Kind() != jsontext.KindBeginObject || !doc.IsValid(lenient) {
		return nil, errors.New("its data is no JSON object")
	}
	d.is = d.was
	return d, nil
}

// edit makes another object of the one that there is.
func (d *document) edit(change func(doc []byte) ([]byte, error)) error {
	doc, err := change(d.is)
	if err == nil {
		d.is = doc
	}
	return err
}

// column is what the column holds with the object as it is now.
func (d *document) column() any {
	data := d.is
	if d.quoted {
		text, _ := jsonedit.Raw(bytesOf(d.stored), "")
		data, _ = jsonedit.Set(bytesOf(d.stored), "", requoted(text, d.was, d.is)) // both were read
	}
	if _, blob := d.stored.([]byte); blob {
		return data
	}
	return string(data)
}

// change is what becomes of the column, nothing if the object is what it was.
func (d *document) change() []table.FieldChange {
	if string(d.is) == string(d.was) {
		return nil
	}
	return []table.FieldChange{{Name: "data", Old: table.Kept(d.stored), New: d.column()}}
}

// quote is a text as JSON.
func quote(text string) []byte {
	value, _ := jsontext.AppendQuote(nil, text) // U+FFFD stands for what is no Unicode
	return value
}
