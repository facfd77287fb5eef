package kagent

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// treeOf is a document as lists, objects and texts; all other values are nil. Of doubled
// members the last one counts, whatever it is.
func treeOf(doc []byte) (any, error) {
	value, err := readValue(jsontext.NewDecoder(bytes.NewReader(doc), lenient))
	if err != nil {
		return nil, errors.New(explain(err))
	}
	return value, nil
}

func readValue(dec *jsontext.Decoder) (any, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindBeginArray:
		list := []any{}
		for dec.PeekKind() != jsontext.KindEndArray {
			element, err := readValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, element)
		}
		_, err = dec.ReadToken()
		return list, err
	case jsontext.KindBeginObject:
		object := map[string]any{}
		for dec.PeekKind() != jsontext.KindEndObject {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			spelled := name.String()
			if object[spelled], err = readValue(dec); err != nil {
				return nil, err
			}
		}
		_, err = dec.ReadToken()
		return object, err
	}
	return nil, nil
}
