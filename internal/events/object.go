package events

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tolerant takes what encoding/json takes, with which docker agent reads: doubled
// names (the last one counts) and text that is not UTF-8 (U+FFFD in its place).
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// key names a member of an event, or of an object in one, that is looked at.
type key uint8

const (
	keyAgent key = iota
	keyArguments
	keyCallID
	keyContent
	keyError
	keyFirstKept
	keyFrom
	keyFunction
	keyID
	keyIsError
	keyLastMessage
	keyMessage
	keyModel
	keyMultiContent
	keyName
	keyParentSession
	keyPosition
	keyResponse
	keyResult
	keySession
	keySubSession
	keySummary
	keySwitching
	keyText
	keyTime
	keyTitle
	keyTo
	keyToolCall
	keyToolDefinition
	keyType
	keyUsage
	keyCount
)

// keys are the names of the members, exactly as docker agent writes them.
var keys = map[string]key{
	"Model":             keyModel,
	"agent_name":        keyAgent,
	"arguments":         keyArguments,
	"content":           keyContent,
	"error":             keyError,
	"first_kept_entry":  keyFirstKept,
	"from_agent":        keyFrom,
	"function":          keyFunction,
	"id":                keyID,
	"isError":           keyIsError,
	"last_message":      keyLastMessage,
	"message":           keyMessage,
	"multi_content":     keyMultiContent,
	"name":              keyName,
	"parent_session_id": keyParentSession,
	"response":          keyResponse,
	"result":            keyResult,
	"session_id":        keySession,
	"session_position":  keyPosition,
	"sub_session":       keySubSession,
	"summary":           keySummary,
	"switching":         keySwitching,
	"text":              keyText,
	"timestamp":         keyTime,
	"title":             keyTitle,
	"to_agent":          keyTo,
	"tool_call":         keyToolCall,
	"tool_call_id":      keyCallID,
	"tool_definition":   keyToolDefinition,
	"type":              keyType,
	"usage":             keyUsage,
}

// object holds the values of the members as they stand in the line, nil for
// those that are not there.
type object [keyCount]jsontext.Value

// parser splits JSON objects into their members and decodes no value of them.
type parser struct {
	dec jsontext.Decoder
	buf bytes.Buffer
}

var errNoObject = errors.New("it is no JSON object")

// object reads an object that is all of data. The values point into data.
func (p *parser) object(data []byte, o *object) error {
	*o = object{}
	p.reset(data)
	if p.dec.PeekKind() != '{' {
		return errNoObject
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() == '"' {
		if err := p.member(data, o); err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil { // the closing brace
		return err
	}
	if end := p.dec.InputOffset(); end < int64(len(data)) {
		return fmt.Errorf("behind the JSON object, which ends at byte %d, there is something else", end)
	}
	return nil
}

func (p *parser) member(data []byte, o *object) error {
	name, err := p.dec.ReadValue()
	if err != nil {
		return err
	}
	k, known := keys[string(unquoted(name))]
	value, err := p.dec.ReadValue()
	if err != nil {
		return err
	}
	if known {
		end := int(p.dec.InputOffset())
		o[k] = data[end-len(value) : end : end]
	}
	return nil
}

// inner reads an object within an event that was read; what is none has no
// members.
func (p *parser) inner(value jsontext.Value, o *object) {
	if p.object(value, o) != nil {
		*o = object{}
	}
}

// elements are the elements of an array within an event that was read.
func (p *parser) elements(array jsontext.Value) (list []jsontext.Value) {
	if array.Kind() != '[' {
		return nil
	}
	p.reset(array)
	_, err := p.dec.ReadToken()
	for err == nil && p.dec.PeekKind() != ']' {
		var value jsontext.Value
		value, err = p.dec.ReadValue()
		end := int(p.dec.InputOffset())
		list = append(list, array[end-len(value):end:end])
	}
	return list
}

func (p *parser) reset(data []byte) {
	p.buf = *bytes.NewBuffer(data)
	p.dec.Reset(&p.buf, tolerant)
}

// unquoted is the text of a string, without a copy where it stands there as it is.
func unquoted(s jsontext.Value) []byte {
	if inner := s[1 : len(s)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	plain, _ := jsontext.AppendUnquote(nil, s) // what is no UTF-8 becomes U+FFFD
	return plain
}
