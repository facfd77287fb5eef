package adk

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/store/column"
)

// The names of members are read alike in snake, camel and Pascal case (docs/stores/adk.md#what-is-read): Python
// takes both spellings of its own, and Go takes every case. Of doubled names the
// last one counts for both.
var (
	pythonJSON = json.JoinOptions(json.MatchCaseInsensitiveNames(true), jsontext.AllowDuplicateNames(true))
	// Go puts U+FFFD in place of bytes that are not valid Unicode; Python refuses the record.
	goJSON = jsonscan.Go.Options

	// written is what any of the writers stored.
	written = jsonscan.Decoder{Options: goJSON, Fold: true, NaN: true}
	python  = jsonscan.Decoder{Options: pythonJSON, Fold: true, NaN: true}
)

// decodeJSON reads a JSON text as the generation's reader does. Values within are parts of data.
func (g generation) decodeJSON(data []byte, into any) error {
	if g.isPython() {
		return python.Unmarshal(data, into)
	}
	return jsonscan.Go.Unmarshal(data, into)
}

func unquoteText(v jsontext.Value) string {
	return string(appendUnquoted(nil, v))
}

func appendUnquoted(to []byte, v jsontext.Value) []byte {
	scan := jsonscan.NewScanner(v)
	if text, ok := scan.AppendText(to); ok && scan.IsUnicode() {
		return text
	}
	to, _ = jsontext.AppendUnquote(to, v) // never fails on what a decoder accepted
	return to
}

// byteText are bytes in base64. adk-kotlin stores them as a list of numbers from -128 to 127
// (Blob.kt, Part.kt).
type byteText string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (b *byteText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	switch {
	case err != nil:
		return err
	case v.Kind() != jsontext.KindBeginArray:
		return json.Unmarshal(v, (*string)(b), goJSON)
	}
	var numbers []int8
	if err := json.Unmarshal(v, &numbers, goJSON); err != nil {
		return err
	}
	data := lists.MapEach(numbers, func(n int8) byte { return byte(n) })
	*b = byteText(base64.StdEncoding.EncodeToString(data))
	return nil
}

// SetText implements jsonscan.TextSetter.
func (b *byteText) SetText(text string) { *b = byteText(text) }

func jsonFloat(v jsontext.Value) (f float64, err error) {
	return strconv.ParseFloat(column.ViewBytes(v), 64)
}

// isJSON reports whether a generation's reader takes a text for JSON, as json.loads, Go's
// encoding/json or JSON.parse: half of a surrogate pair is no fault for any of them, and NaN
// none for Python, which writes it. SQLite's driver for Python refuses a text that is no UTF-8.
func (g generation) isJSON(data []byte) bool {
	v := jsontext.Value(data)
	if g.isPython() {
		v = jsonscan.MaskNaN(data)
	}
	return v.IsValid(goJSON) && (!g.isPython() || utf8.Valid(data))
}

// isObject reports whether a generation's reader takes a text for a JSON object.
func (g generation) isObject(data []byte) bool {
	return g.isJSON(data) && jsontext.Value(data).Kind() == jsontext.KindBeginObject
}

// explainError words a decoder's error without what the record says.
func explainError(err error) string {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONKind != jsontext.KindInvalid {
		return fmt.Sprintf("%q holds a value of the wrong type", string(wrong.JSONPointer))
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		for _, what := range []string{"invalid surrogate pair", "invalid escape sequence", "invalid UTF-8"} {
			if syntax.Err != nil && strings.Contains(syntax.Err.Error(), what) {
				return fmt.Sprintf("%s at byte %d", what, syntax.ByteOffset)
			}
		}
		return fmt.Sprintf("it is not valid JSON from byte %d on", syntax.ByteOffset)
	}
	return "it is cut off"
}
