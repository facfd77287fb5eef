package kagent

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// withheld stands for the headers of a request in what people are shown.
const withheld = `"[withheld by sessctl]"`

// redactEvent is a stored event without what the headers in its state say: among them
// can be those by which a person signed in (docs/stores/kagent.md#what-is-read). Their names and every other byte
// stay. A record that is no JSON, and speaks of headers, is left out altogether.
func redactEvent(data []byte) []byte {
	if !bytes.Contains(bytes.ToLower(data), []byte(headers)) {
		return data
	}
	doc, wrapped := unwrapDocument(data)
	if !jsontext.Value(doc).IsValid(lenient) {
		return []byte(withheld)
	}
	var out []byte
	kept := 0 // up to where the document is in out
	dec := jsontext.NewDecoder(bytes.NewReader(doc), lenient)
	for {
		token, err := dec.ReadToken()
		if err != nil { // its end: it is valid
			break
		}
		if token.Kind() != jsontext.KindString || !inState(dec) || !strings.EqualFold(token.String(), headers) {
			continue
		}
		value, err := dec.ReadValue()
		if err != nil {
			return []byte(withheld)
		}
		end := int(dec.InputOffset())
		out = append(append(out, doc[kept:end-len(value)]...), namesOnly(value)...)
		kept = end
	}
	out = append(out, doc[kept:]...)
	if wrapped {
		out, _ = json.Marshal(string(out), lenient) // texts always have a form
	}
	return out
}

// inState reports whether what was read last is the name of an entry of a state delta.
func inState(dec *jsontext.Decoder) bool {
	kind, count := dec.StackIndex(dec.StackDepth())
	if kind != jsontext.KindBeginObject || count%2 == 0 {
		return false
	}
	path := slices.Collect(dec.StackPointer().Parent().Tokens())
	return len(path) > 0 && strings.EqualFold(strings.ReplaceAll(path[len(path)-1], "_", ""), "statedelta")
}

// namesOnly are headers without their values.
func namesOnly(value jsontext.Value) []byte {
	var list map[string]jsontext.Value
	if json.Unmarshal(value, &list, lenient) != nil || list == nil {
		return []byte(withheld)
	}
	for name := range list {
		list[name] = jsontext.Value(withheld)
	}
	bare, err := json.Marshal(list, lenient, json.Deterministic(true))
	if err != nil {
		return []byte(withheld)
	}
	return bare
}
