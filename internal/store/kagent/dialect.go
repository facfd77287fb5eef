package kagent

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// dialect is the form of an event's document (b1).
type dialect uint8

const (
	unknown   dialect = iota
	snake             // kagent's Python runtime: an event of adk-python
	pascal            // its Go runtime with adk-go before 2.2
	camel             // its Go runtime with adk-go 2.2 or later
	responses         // its package for the OpenAI Agents SDK: a list of Responses API items
	message           // a message of A2A
)

// words say of a number of events what they are.
var words = map[dialect]string{
	unknown:   "in no known form",
	snake:     "in the form of kagent's Python runtime (invocation_id)",
	pascal:    "in the form of kagent's Go runtime with adk-go before 2.2 (InvocationID)",
	camel:     "in the form of kagent's Go runtime with adk-go 2.2 or later (invocationId)",
	responses: "in the form of kagent's package for the OpenAI Agents SDK",
	message:   "messages of A2A",
}

// marks are the names of members that only one dialect has. Those that tell best
// come first: an event of ADK has an invocation in every dialect.
var marks = []struct {
	name string
	is   dialect
}{
	{"invocation_id", snake}, {"InvocationID", pascal}, {"invocationId", camel},
	{"items", responses}, {"messageId", message}, {"message_id", message},
	{"LongRunningToolIDs", pascal}, {"Author", pascal}, {"long_running_tool_ids", snake}, {"longRunningToolIds", camel},
	{"author", snake}, {"content", snake}, {"Content", pascal}, {"parts", message},
}

// dialectOf tells by the members of the document.
func dialectOf(doc []byte) dialect {
	dec := jsontext.NewDecoder(bytes.NewReader(doc), lenient)
	if begin, err := dec.ReadToken(); err != nil || begin.Kind() != jsontext.KindBeginObject {
		return unknown
	}
	best := len(marks)
	for dec.PeekKind() == jsontext.KindString {
		name, err := dec.ReadValue()
		if err != nil {
			break
		}
		spelled := stringOf(name)
		for i := range best {
			if marks[i].name == spelled {
				best = i
				break
			}
		}
		if dec.SkipValue() != nil {
			break
		}
	}
	if best == len(marks) {
		return unknown
	}
	return marks[best].is
}
