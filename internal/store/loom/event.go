package loom

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
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
	path string
	filelog.Span
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
	rec, usable, wrong := decodeObject[eventLine](line)
	if !usable {
		return ev, "", false, wrong
	}
	ev.result = resultWords[rec.Type] || resultWords[rec.Topic]
	if !ev.result && !spawnWords[rec.Type] && !spawnWords[rec.Topic] {
		return ev, "", false, nil
	}
	p, usable, damaged := decodeObject[payload](rec.decodePayload(line))
	if !usable {
		return ev, "", false, &damage{damaged.kind, "its payload: " + damaged.why}
	}
	if wrong = cmp.Or(wrong, damaged); wrong != nil {
		ev.faults = append(ev.faults, session.Fault{Kind: wrong.kind, Field: "line", Detail: wrong.why})
	}
	ev.id, ev.source, ev.parent, ev.child, ev.tools = rec.ID, displayName(rec.Source), displayName(p.Parent), displayName(p.Child), p.Tools
	ev.correlation = rec.findCorrelation()
	ev.failed = ev.result && (p.Success == nil && p.Error != "" || p.Success != nil && !*p.Success)
	text = p.Goal
	if ev.result {
		text = p.answerText()
	}
	ev.said, ev.size = session.DigestOf(text), len(text)
	ev.readTimes(&rec, &p)
	return ev, text, true, nil
}

func (ev *event) readTimes(rec *eventLine, p *payload) {
	stored := rec.Time
	if len(stored) == 0 {
		stored = rec.JSONTime
	}
	var ok bool
	if ev.time, ok = parseInstant(stored); !ok {
		ev.faults = append(ev.faults, badTime(stored))
	}
	if ms, ok := parseMilliseconds(p.Timeout); ok && ms > 0 {
		ev.timeout = time.Duration(min(ms, int64(1<<62)/int64(time.Millisecond))) * time.Millisecond
	}
}

// anyBase64 makes either alphabet of base64 the common one.
var anyBase64 = strings.NewReplacer("-", "+", "_", "/")

// decodePayload decodes the JSON object of the payload: as it is, as a text, or as the base64
// that Protobuf's JSON form has for bytes, which is read in both alphabets, padded or
// not. Without one, the line is the payload.
func (rec *eventLine) decodePayload(line []byte) []byte {
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

// findCorrelation finds the id that ties a result to its spawn: Python writes it with a
// prefix, Rust without (loom-py agent/envelope.py, core messaging/envelope.rs).
func (rec *eventLine) findCorrelation() string {
	for _, name := range []string{"loom.correlation_id", "correlation_id"} {
		if id, ok := rec.Metadata[name].(string); ok && id != "" {
			return id
		}
	}
	return ""
}

// answerText is the text that came back; an answer that is no text is the JSON of it.
func (p *payload) answerText() string {
	text := compactJSON(p.Result)
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
	return session.Fault{Kind: session.BadTime, Field: "timestamp_ms", Detail: shown + " is not a number of milliseconds since 1970"}
}

// callID names the call of a spawn that no step tells of, and the one that a result
// without a spawn is for.
func (ev *event) callID() string {
	if ev.result {
		return cmp.Or(ev.correlation, ev.child, ev.key)
	}
	return cmp.Or(ev.id, ev.key)
}

// composeArgs composes the arguments of a spawn that no step tells of.
func (ev *event) composeArgs(goal string) jsontext.Value {
	args, err := json.Marshal(struct {
		Child string `json:"child_id"`
		Goal  string `json:"goal"`
	}{ev.child, goal}, tolerant)
	if err != nil {
		return nil
	}
	return args
}

// spawnTool is the tool of the step that a parent records for a child (ISOLATION.md,
// IsolatedContext.spawn_child).
const spawnTool = "agent:spawn"

// step is a file of a history, as Step.to_dict of loom-py makes it
// (context/engineering/step.py).
type step struct {
	ID          string         `json:"id"`
	Tool        string         `json:"tool_name"`
	Args        jsontext.Value `json:"minimal_args"`
	Observation string         `json:"observation"`
	Success     *bool          `json:"success"` // absent: it succeeded
	Time        jsontext.Value `json:"timestamp_ms"`
	OutcomeRef  string         `json:"outcome_ref"`
	Error       string         `json:"error"`
}

// damage is what is wrong with the JSON of a record.
type damage struct {
	kind session.FaultKind // BadUnicode when nothing else is wrong, else Undecodable
	why  string
}

// tolerant takes what Python's json module writes and reads.
var tolerant = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// decodeObject reads a JSON object. One with doubled names or text that is not Unicode is
// usable, and damage says what is wrong with it; nil means nothing.
func decodeObject[T any](data []byte) (value T, usable bool, wrong *damage) {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return value, false, &damage{session.Undecodable, "it is not a JSON object"}
	}
	if json.Unmarshal(data, &value) == nil {
		return value, true, nil
	}
	var scrubbed T
	if json.Unmarshal(data, &scrubbed, jsontext.AllowInvalidUTF8(true)) == nil {
		return scrubbed, true, &damage{session.BadUnicode, "it holds text that is not valid Unicode"}
	}
	var again T
	if json.Unmarshal(data, &again, tolerant) == nil {
		return again, true, &damage{session.Undecodable, "a name occurs twice in it; the last value is used"}
	}
	why := "it is not JSON, or was cut off"
	if jsontext.Value(data).IsValid(tolerant) {
		why = "a member holds a value of the wrong type"
	}
	return again, false, &damage{session.Undecodable, why}
}

// decodeStep reads a step. Without an id and a tool it is none: Step.from_dict wants
// both.
func decodeStep(data []byte) (s step, usable bool, wrong *damage) {
	s, usable, wrong = decodeObject[step](data)
	if usable && (s.ID == "" || s.Tool == "") {
		return s, false, &damage{session.Undecodable, "it lacks id or tool_name"}
	}
	return s, usable, wrong
}

// compactArgs is the text of the arguments without the white space around its parts.
func (s *step) compactArgs() string { return compactJSON(s.Args) }

// compactJSON is a JSON value without white space, "" for null and for nothing.
func compactJSON(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() == 'n' {
		return ""
	}
	v = v.Clone()
	if v.Compact(tolerant) != nil {
		return ""
	}
	return string(v)
}

// stringArgs are the arguments that are strings, by name.
func (s *step) stringArgs() map[string]string {
	var all map[string]jsontext.Value
	if json.Unmarshal(s.Args, &all, tolerant) != nil {
		return nil
	}
	texts := map[string]string{}
	for name, v := range all {
		var text string
		if v.Kind() == '"' && json.Unmarshal(v, &text, tolerant) == nil {
			texts[name] = text
		}
	}
	return texts
}

// hasFailed reports whether the tool did not succeed.
func (s *step) hasFailed() bool { return s.Success != nil && !*s.Success }

// answerText is what the step says of the tool's result: of a failure the error.
func (s *step) answerText() string {
	if s.hasFailed() && s.Error != "" {
		return s.Error
	}
	return s.Observation
}

// parseInstant reads milliseconds since 1970, as a number or, as Protobuf writes 64-bit
// numbers, as a text. Nothing, null and 0 are no time and no mistake.
func parseInstant(v jsontext.Value) (t time.Time, ok bool) {
	ms, ok := parseMilliseconds(v)
	const year10000 = 253402300800000
	if !ok || ms < 0 || ms >= year10000 {
		return t, false
	}
	if ms == 0 {
		return t, true
	}
	return time.UnixMilli(ms).UTC(), true
}

func parseMilliseconds(v jsontext.Value) (ms int64, ok bool) {
	if len(v) == 0 || v.Kind() == 'n' {
		return 0, true
	}
	number, err := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
	if err != nil || math.IsNaN(number) || math.Abs(number) > 1<<53 {
		return 0, false
	}
	return int64(number), true
}

// The tables of items. A step is two items, its call and its result; an event is one
// with each of the two agents that it is about.
const (
	tableSteps        = "steps"        // key: agent/step_001.json
	tableObservations = "observations" // key: as the step's
	tableGoals        = "goals"        // with the child; key: file:line
	tableSpawns       = "spawns"       // with the parent, where no step tells of the spawn
	tableAnswers      = "answers"      // with the child
	tableResults      = "results"      // with the parent
)

// keyOf is the key of the items of a step.
func keyOf(a agent, file stepFile) string { return path.Join(a.id, displayName(file.name)) }

// stepItem is the call of a step.
func stepItem(agent string, s *step, raw []byte) session.Item {
	args := s.compactArgs()
	it := session.Item{
		Shared: &session.Shared{Table: tableSteps, Agent: agent}, Role: session.Assistant, Size: int64(len(args)),
		Calls: []session.Call{{ID: s.ID, Name: s.Tool, Args: args, Form: session.FormOf(args)}},
		Body:  &session.Body{Raw: raw},
	}
	it.Time, _ = parseInstant(s.Time)
	setMeaning(&it)
	return it
}

// observationItem is the result of a step.
func observationItem(agent string, s *step) session.Item {
	it := resultItem(tableObservations, agent, s.ID, s.answerText(), s.hasFailed())
	it.Results[0].Name = s.Tool
	it.Time, _ = parseInstant(s.Time)
	setMeaning(&it)
	return it
}

// resultItem is a result of a call.
func resultItem(table, agent, call, text string, failed bool) session.Item {
	it := session.Item{
		Shared: &session.Shared{Table: table, Agent: agent}, Role: session.Tool, Size: int64(len(text)),
		Results: []session.Result{{
			CallID: call, Text: text, Digest: session.DigestOf(text), IsError: failed, Synthetic: session.IsPlaceholder(text),
		}},
		Body: &session.Body{},
	}
	it.Text = it.Results[0].Digest
	return it
}

// textItem is a message that an event tells of: the goal of a child, or its answer.
func textItem(table string, role session.Role, agent, text string) session.Item {
	it := session.Item{
		Shared: &session.Shared{Table: table, Agent: agent}, Role: role, Text: session.DigestOf(text), Size: int64(len(text)),
		Flags: session.TextFlags(text), Body: &session.Body{Text: text},
	}
	if text == "" || it.Flags.Has(session.BlankText) {
		it.Flags |= session.Blank
	}
	setMeaning(&it)
	return it
}

// eventItem is what an event says to or of an agent.
func eventItem(table, agent string, ev *event, text string, raw []byte) session.Item {
	var it session.Item
	switch table {
	case tableGoals:
		it = textItem(table, session.User, "", text)
	case tableAnswers:
		it = textItem(table, session.Assistant, agent, text)
	case tableSpawns:
		it = stepItem(agent, &step{ID: ev.callID(), Tool: spawnTool, Args: ev.composeArgs(text)}, nil)
		it.Own().Table = table
	case tableResults:
		it = resultItem(table, agent, ev.callID(), text, ev.failed)
		it.Results[0].Child, it.Results[0].Correlation = ev.child, ev.correlation
		it.Results[0].Name = spawnTool
		setMeaning(&it)
	}
	it.Time, it.Body.Raw = ev.time, raw
	return it
}

// otherItem is a record of a history that is no step.
func otherItem(raw []byte) session.Item {
	it := session.Item{Shared: &session.Shared{Table: tableSteps}, Kind: session.Other, Body: &session.Body{Raw: raw}}
	setMeaning(&it)
	return it
}

// setMeaning sets the digest of what an item with its body says.
func setMeaning(it *session.Item) {
	var m session.Meaning
	m.Reset(it.Role, it.Agent())
	m.AddMark(byte(it.Kind))
	if it.Kind == session.Other {
		m.AddDigest(session.DigestOf(it.Body.Raw))
	}
	m.AddDigest(session.DigestOf(it.Body.Text))
	m.AddMark('c')
	for i := range it.Calls {
		c := &it.Calls[i]
		m.AddTexts(c.ID, c.Name, c.Args)
	}
	m.AddMark('r')
	for i := range it.Results {
		r := &it.Results[i]
		m.AddDigest(session.DigestOf(r.CallID))
		m.AddDigest(r.Digest)
		m.AddFlag(r.IsError)
	}
	it.Meaning = m.Digest()
}

// fillItem reads the texts of an item again. A record that was changed or taken away
// meanwhile leaves them empty.
func (l *loom) fillItem(agent string, it *session.Item) {
	it.Body = &session.Body{}
	switch it.Table() {
	case tableSteps, tableObservations:
		raw, err := l.readStepFile(path.Join(l.byID[agent].dir, historyFolder, path.Base(it.Key)))
		if err != nil {
			return
		}
		if it.Table() == tableSteps {
			it.Body.Raw = bytes.Clone(raw)
		}
		if s, usable, _ := decodeStep(raw); usable {
			fillFrom(it, s.compactArgs(), s.answerText())
		}
	default:
		ev := l.events[it.Key]
		text, raw, err := l.rereadEvent(ev)
		if err != nil {
			return
		}
		full := eventItem(it.Table(), agent, ev, text, raw)
		it.Body = full.Body
		fillFrom(it, compactJSON(ev.composeArgs(text)), text)
	}
}

func fillFrom(it *session.Item, args, answer string) {
	for i := range it.Calls {
		it.Calls[i].Args = args
	}
	for i := range it.Results {
		it.Results[i].Text = answer
	}
}
