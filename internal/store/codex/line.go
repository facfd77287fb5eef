package codex

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/responses"
)

// line is a line of a rollout. What the payload is, the type says.
type line struct {
	Time    string         `json:"timestamp"`
	Ordinal *int64         `json:"ordinal"`
	Type    string         `json:"type"`
	Payload jsontext.Value `json:"payload"`
}

// The types of lines that a repair writes.
const (
	typeItem  = "response_item"
	typeEvent = "event_msg"
)

// lineTypes are those that tell Codex's files from others.
var lineTypes = []string{"session_meta", typeItem, "compacted", typeEvent, "turn_context", "token_usage_record", "world_state"}

// serde reads JSON as Codex does: what is no Unicode is no JSON.
var serde = jsonscan.Decoder{Options: jsontext.AllowDuplicateNames(true)}

// meta is the payload of the first line.
type meta struct {
	ID     string `json:"id"`
	Time   string `json:"timestamp"`
	Parent string `json:"parent_thread_id"`
	Forked string `json:"forked_from_id"`
	// Base is where the history of a fork lies: in the file of another thread, up to an offset.
	Base *struct {
		Thread string `json:"thread_id"`
		Before int64  `json:"end_ordinal_exclusive"`
		End    int64  `json:"end_byte_offset"`
	} `json:"history_base"`
	Start   int64          `json:"subagent_history_start_ordinal"` // the lines before it are copies of the parent's
	Source  jsontext.Value `json:"source"`
	Version string         `json:"cli_version"`
	Agent   string         `json:"agent_role"`

	delegated bool
}

// event is what the lines say that are no items.
type event struct {
	Type    string           `json:"type"`
	Turn    string           `json:"turn_id"`
	Turns   int              `json:"num_turns"`
	Model   string           `json:"model"`
	Message string           `json:"message"`
	History []jsontext.Value `json:"replacement_history"`
}

// parseLine reads a line, or says why Codex passes over it.
func parseLine(text []byte) (l line, wrong string) {
	if err := serde.Unmarshal(text, &l); err != nil {
		return l, jsonscan.DescribeError(err, kindTitle)
	}
	if l.Type == "" || len(l.Payload) == 0 {
		return l, "it has no type or no payload"
	}
	return l, ""
}

// parseItem reads an item of the Responses API, or says why Codex passes over its line.
func parseItem(raw []byte) (x responses.Item, wrong string) {
	if err := serde.Unmarshal(raw, &x); err != nil {
		return x, jsonscan.DescribeError(err, kindTitle)
	}
	if x.Type == "function_call" && x.Arguments.Kind() != '"' {
		return x, "the arguments of its call are no text"
	}
	return x, ""
}

// readMeta reads the first line, or says why Codex cannot resume the thread.
func readMeta(ctx context.Context, log *filelog.Log) (m meta, wrong string) {
	for at, err := range log.Lines(ctx) {
		if err != nil || at.Err != nil {
			return m, "it cannot be read"
		}
		l, wrong := parseLine(at.Text)
		switch {
		case wrong != "":
		case log.HasMark():
			wrong = "it begins with a byte order mark, three bytes that some editors put there and Codex does not pass over; save the file without it"
		case l.Type != "session_meta":
			wrong = "it is no session_meta, with which every rollout begins"
		case serde.Unmarshal(l.Payload, &m) != nil || m.ID == "":
			wrong = "its session_meta has no id, or a value of another type than Codex expects"
		}
		var from struct {
			Subagent jsontext.Value `json:"subagent"`
		}
		m.delegated = m.Source.Kind() == '{' && serde.Unmarshal(m.Source, &from) == nil && len(from.Subagent) > 0
		return m, wrong
	}
	return m, "the rollout is empty"
}
