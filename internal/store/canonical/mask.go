package canonical

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// mask makes a row of x of every string value of JSON and a row of 1 of every
// number, of the same length. Keys, true, false and null stay.
func mask(v jsontext.Value) jsontext.Value {
	if v == nil {
		return nil
	}
	row := func(filler string) func(string) string {
		return func(text string) string { return strings.Repeat(filler, len(text)) }
	}
	masked, _ := mapValues(v, row("x"), row("1"))
	return masked
}

func (r *storedRecord) redact() {
	r.Raw = mask(r.Raw)
	r.RawBase64 = strings.Repeat("x", len(r.RawBase64)) // still base64
}

// mapValues replaces the strings and the numbers in v, but not its keys; false
// means that v is not one JSON value.
func mapValues(v jsontext.Value, text, number func(string) string) (jsontext.Value, bool) {
	if !v.IsValid(tolerant) {
		return nil, false
	}
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(v), tolerant)
	enc := jsontext.NewEncoder(&out, exact, tolerant)
	for {
		within, count := dec.StackIndex(dec.StackDepth())
		isName := within == jsontext.KindBeginObject && count%2 == 0
		token, err := dec.ReadToken()
		if err != nil { // the end: v is valid
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), true
		}
		switch {
		case token.Kind() == jsontext.KindString && !isName:
			err = enc.WriteToken(jsontext.String(text(token.String())))
		case token.Kind() == jsontext.KindNumber:
			err = enc.WriteValue(jsontext.Value(number(token.String())))
		default:
			err = enc.WriteToken(token)
		}
		if err != nil {
			return nil, false
		}
	}
}
