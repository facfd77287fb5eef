package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Replace gives several values of a document others while it is read once: with has
// them by the JSON pointers of what they replace, all of which are texts, numbers or
// literals that are there. Of doubled names all get the value. The error is about a
// document that is no JSON or breaks off, a pointer that leads nowhere, or a value that
// is no JSON.
func Replace(doc []byte, with map[string][]byte) ([]byte, error) {
	for pointer, value := range with {
		if !jsontext.Value(value).IsValid(tolerant) {
			return nil, fmt.Errorf("the new value of %q is no JSON", pointer)
		}
	}
	var out []byte
	found, copied := map[string]bool{}, 0
	dec := jsontext.NewDecoder(bytes.NewReader(doc), tolerant)
	for {
		value, err := scalar(dec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the document is no JSON from byte %d on", dec.InputOffset())
		}
		if value == nil {
			continue
		}
		pointer := string(dec.StackPointer())
		if other, ok := with[pointer]; ok {
			end := int(dec.InputOffset())
			out = append(append(out, doc[copied:end-len(value)]...), other...)
			found[pointer], copied = true, end
		}
	}
	for pointer := range with {
		if !found[pointer] {
			return nil, nothingAt(pointer)
		}
	}
	return append(out, doc[copied:]...), nil
}

// scalar reads on by one token, and gives it back where it is a value of its own;
// brackets and the names of members are none.
func scalar(dec *jsontext.Decoder) (jsontext.Value, error) {
	in, length := dec.StackIndex(dec.StackDepth())
	isName := in == jsontext.KindBeginObject && length%2 == 0
	switch dec.PeekKind() {
	case jsontext.KindString, jsontext.KindNumber, jsontext.KindNull, jsontext.KindTrue, jsontext.KindFalse:
		if !isName {
			return dec.ReadValue()
		}
	}
	_, err := dec.ReadToken()
	return nil, err
}
