package loom

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// event is a spawn or a result that was captured from the event bus, without its
// texts.
type event struct {
	result      bool // what a child sent back; else a spawn
	key         string
	at          span
	id          string // "" when it has none
	source      string // who emitted it: an agent, or another part of a runtime
	parent      string // "" when the event does not say
	child       string // "" when the event does not say
	correlation string
	time        time.Time
	said        session.Digest // of the goal, or of what came back
	size        int
	failed      bool
	tools       []string
	timeout     time.Duration
	faults      []session.Fault // without Ref and Item
}

// span is where a line is.
type span struct {
	path           string
	offset, length int64
}

// eventLine is a line of a capture: an Event of loom-proto (event.proto) as JSON, by
// its own names or by those of Protobuf's JSON form.
type eventLine struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Topic    string         `json:"topic"`
	Source   string         `json:"source"`
	Time     jsontext.Value `json:"timestamp_ms"`
	JSONTime jsontext.Value `json:"timestampMs"`
	Metadata map[string]any `json:"metadata"`
	Payload  jsontext.Value `json:"payload"`
}

// payload is that of a spawn or of a result (ISOLATION.md, Communication Protocol and
// Event Types).
type payload struct {
	Parent  string         `json:"parent_id"`
	Child   string         `json:"child_id"`
	Goal    string         `json:"goal"`
	Tools   []string       `json:"tools"`
	Timeout jsontext.Value `json:"timeout_ms"`
	Result  jsontext.Value `json:"result"`
	Success *bool          `json:"success"` // absent: it succeeded unless there is an error
	Error   string         `json:"error"`
}

// The words for the two kinds: the topic and the type that the design emits them
// with. Whichever a capture has is enough.
var (
	spawnWords  = map[string]bool{"agent.spawn": true, "spawn_request": true}
	resultWords = map[string]bool{"agent.result": true, "spawn_result": true}
)

// namesEvent reports whether a line has the word for a spawn or a result as a text.
func namesEvent(line []byte) bool {
	for _, words := range []map[string]bool{spawnWords, resultWords} {
		for word := range words {
			if bytes.Contains(line, []byte(`"`+word+`"`)) {
				return true
			}
		}
	}
	return false
}

// decodeEvent reads a line of a capture: its event, and what that said. known is
// false for events of other kinds.
func decodeEvent(line []byte) (ev event, text string, known bool, wrong *damage) {
	rec, usable, wrong := decode[eventLine](line)
	if !usable {
		return ev, "", false, wrong
	}
	ev.result = resultWords[rec.Type] || resultWords[rec.Topic]
	if !ev.result && !spawnWords[rec.Type] && !spawnWords[rec.Topic] {
		return ev, "", false, nil
	}
	p, usable, damaged := decode[payload](rec.payload(line))
	if !usable {
		return ev, "", false, &damage{damaged.kind, "its payload: " + damaged.why}
	}
	if wrong = first(wrong, damaged); wrong != nil {
		ev.faults = append(ev.faults, session.Fault{Kind: wrong.kind, Field: "line", Detail: wrong.why})
	}
	ev.id, ev.source, ev.parent, ev.child, ev.tools = rec.ID, shown(rec.Source), shown(p.Parent), shown(p.Child), p.Tools
	ev.correlation = rec.correlation()
	ev.failed = ev.result && (p.Success == nil && p.Error != "" || p.Success != nil && !*p.Success)
	text = p.Goal
	if ev.result {
		text = p.answer()
	}
	ev.said, ev.size = session.DigestOf(text), len(text)
	ev.times(&rec, &p)
	return ev, text, true, nil
}

func first(a, b *damage) *damage {
	if a != nil {
		return a
	}
	return b
}

func (ev *event) times(rec *eventLine, p *payload) {
	stored := rec.Time
	if len(stored) == 0 {
		stored = rec.JSONTime
	}
	var ok bool
	if ev.time, ok = instant(stored); !ok {
		ev.faults = append(ev.faults, badTime(stored))
	}
	if ms, ok := milliseconds(p.Timeout); ok && ms > 0 {
		ev.timeout = time.Duration(min(ms, int64(1<<62)/int64(time.Millisecond))) * time.Millisecond
	}
}

// anyBase64 makes either alphabet of base64 the common one.
var anyBase64 = strings.NewReplacer("-", "+", "_", "/")

// payload is the JSON object of the payload: as it is, as a text, or as the base64
// that Protobuf's JSON form has for bytes, which is read in both alphabets, padded or
// not. Without one, the line is the payload.
func (rec *eventLine) payload(line []byte) []byte {
	if len(rec.Payload) == 0 || rec.Payload.Kind() == 'n' {
		return line
	}
	var text string
	if rec.Payload.Kind() != '"' || json.Unmarshal(rec.Payload, &text, tolerant) != nil {
		return rec.Payload
	}
	if data, err := base64.RawStdEncoding.DecodeString(anyBase64.Replace(strings.TrimRight(text, "="))); err == nil {
		return data
	}
	return []byte(text)
}

// correlation is the id that ties a result to its spawn: Python writes it with a
// prefix, Rust without (loom-py agent/envelope.py, core messaging/envelope.rs).
func (rec *eventLine) correlation() string {
	for _, name := range []string{"loom.correlation_id", "correlation_id"} {
		if id, ok := rec.Metadata[name].(string); ok && id != "" {
			return id
		}
	}
	return ""
}

// answer is the text that came back; an answer that is no text is the JSON of it.
func (p *payload) answer() string {
	text := compact(p.Result)
	if p.Result.Kind() == '"' {
		var s string
		if json.Unmarshal(p.Result, &s, tolerant) == nil {
			text = s
		}
	}
	return cmp.Or(text, p.Error)
}

func badTime(stored jsontext.Value) session.Fault {
	shown := string(stored)
	var text string
	switch stored.Kind() {
	case '"':
		_ = json.Unmarshal(stored, &text, tolerant) // it was decoded before
		shown = fmt.Sprintf("%.40q", text)
	case '{':
		shown = "an object"
	case '[':
		shown = "a list"
	}
	return session.Fault{Kind: session.BadTime, Field: "timestamp_ms", Detail: shown + " is no number of milliseconds since 1970"}
}

// callID names the call of a spawn that no step tells of, and the one that a result
// without a spawn is for.
func (ev *event) callID() string {
	if ev.result {
		return cmp.Or(ev.correlation, ev.child, ev.key)
	}
	return cmp.Or(ev.id, ev.key)
}

// args are the arguments of a spawn that no step tells of.
func (ev *event) args(goal string) jsontext.Value {
	args, err := json.Marshal(struct {
		Child string `json:"child_id"`
		Goal  string `json:"goal"`
	}{ev.child, goal}, tolerant)
	if err != nil {
		return nil
	}
	return args
}
