package canonical

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// lineFault is a fault of the stream itself. A line that is no header, session, item or
// fault, or cannot be told to be one, is in nothing that is made of the stream.
func lineFault(kind session.FaultKind, line int64, field, detail string) session.Fault {
	return session.Fault{
		Kind: kind, Item: -1, Field: field,
		Ref:    session.Ref{Table: session.TableLines, Key: strconv.FormatInt(line, 10)},
		Detail: at(line, detail),
		Lost:   kind == session.Undecodable || kind == session.UnknownKind,
	}
}

// at begins a detail with the line that it is about.
func at(line int64, detail string) string { return fmt.Sprintf("line %d: %s", line, detail) }

// quoted shows a stored word without letting it fill the screen.
func quoted(word string) string {
	const longest = 40
	if runes := []rune(word); len(runes) > longest {
		word = string(runes[:longest]) + "…"
	}
	return strconv.Quote(word)
}

// notATime is the detail of a BadTime fault.
func notATime(text looseText) string { return quoted(string(text)) + " is no RFC 3339 time" }

// explain words a decoder's error for people: without types of this program,
// and without the text around the place.
func explain(err error) string {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONKind != jsontext.KindInvalid {
		return fmt.Sprintf("%q holds %s, expected %s", string(wrong.JSONPointer),
			kindNames[wrong.JSONKind], expected(wrong.GoType))
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && syntax.Err != nil {
		for _, what := range []string{"invalid surrogate pair", "invalid escape sequence"} {
			if strings.HasPrefix(syntax.Err.Error(), what) { // followed by what stands there
				err = &jsontext.SyntacticError{
					ByteOffset: syntax.ByteOffset, JSONPointer: syntax.JSONPointer, Err: errors.New(what),
				}
			}
		}
	}
	return strings.TrimPrefix(err.Error(), "jsontext: ")
}

var kindNames = map[jsontext.Kind]string{
	jsontext.KindTrue:        "true",
	jsontext.KindFalse:       "false",
	jsontext.KindString:      "a string",
	jsontext.KindNumber:      "a number",
	jsontext.KindBeginObject: "an object",
	jsontext.KindBeginArray:  "a list",
}

func expected(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}
