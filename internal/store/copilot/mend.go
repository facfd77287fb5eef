package copilot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

func mended(text []byte, mends ...mend) []byte {
	for _, m := range mends {
		value := []byte(m.value)
		if m.value == "" {
			value = nil
		}
		if now, err := jsonedit.SetValue(text, m.pointer, value); err == nil {
			text = now
		}
	}
	return text
}

func (l *log) mendsOf(i int) []mend {
	if t := l.trouble[i]; t != nil && !t.gone {
		return t.mends
	}
	return nil
}

// mendLines finds out what lets each line load that does not fit. The session is read as if that were
// done; what nothing mends has to leave.
func (l *log) mendLines() error {
	for _, i := range slices.Sorted(maps.Keys(l.trouble)) {
		t, was := l.trouble[i], l.nodes[i]
		if was.kind == unread {
			continue
		}
		text, err := l.text.Line(was.Span)
		if err != nil {
			return err
		}
		text = slices.Clone(text)
		e := parseEvent(text)
		for range 2 { // an object that is put in place of another value can lack members
			for _, m := range e.checkEvent() {
				if m.wanted {
					m.value, m.guess = l.findValue(i, e, m.pointer)
					t.gone = t.gone || m.value == ""
				}
				t.mends = append(t.mends, m)
			}
			e = parseEvent(mended(text, t.mends...))
		}
		n := node{Span: was.Span, number: was.number, open: was.open, passed: was.passed}
		if l.fillNode(i, &n, e); t.gone || len(e.checkEvent()) > 0 {
			t.gone, n = true, node{Span: was.Span, number: was.number, kind: unread, id: n.id, parent: n.parent}
		}
		l.ids[was.id]--
		l.ids[n.id]++
		l.nodes[i] = n
	}
	return nil
}

// fixed are values that nothing but the type of the line decides, and nobody is sent.
var fixed = map[string]string{
	"session.start /data/version": "1", "session.start /data/producer": `"` + producer + `"`, "session.start /data/copilotVersion": `"` + lastVersion + `"`,
	"system.message /data/role": `"system"`, "system.message /data/content": `""`, // which is made anew
}

// likely are values in place of what nothing tells.
var likely = map[string]string{
	"assistant.message /data/content": `""`, "system.notification /data/content": `""`, "tool.execution_complete /data/success": "false",
	"tool.execution_complete /data/result/content": `""`, "tool.execution_complete /data/error/message": `""`,
}

// quoted is a text as JSON, "" for none.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return string(docedit.QuoteText(text))
}

// findValue finds the value that a line lacks: in the line itself, or in its partners. "" for none.
func (l *log) findValue(i int, e *event, pointer string) (value string, guess bool) {
	n, field := &l.nodes[i], e.Type+" "+pointer
	has := func(name string) bool { return len(e.members[name]) > 0 && e.members[name].Kind() != 'n' }
	switch {
	case pointer == "/id" && i+1 < len(l.nodes) && isUUID().MatchString(l.Text(l.nodes[i+1].parent)) && l.ids[l.nodes[i+1].parent] == 0:
		value = quoted(l.Text(l.nodes[i+1].parent))
	case pointer == "/id", field == "assistant.message /data/messageId":
		value = quoted(l.DeriveUUID(fmt.Sprint(pointer, i, n.Offset)))
	case pointer == "/timestamp":
		value = l.nearestTime(i)
	case pointer == "/parentId" && i > 0 && l.nodes[i-1].id != 0:
		value = quoted(l.Text(l.nodes[i-1].id))
	case pointer == "/parentId":
		value = "null"
	case field == "session.start /data/sessionId":
		value = quoted(l.session)
	case field == "session.start /data/startTime", field == "session.resume /data/resumeTime":
		value = l.nearestTime(i + 1)
	case field == "session.resume /data/eventCount":
		value = strconv.Itoa(i)
	case field == "session.compaction_complete /data/success":
		value = strconv.FormatBool(has("summaryContent"))
	case field == "tool.execution_complete /data/success" && (has("result") || has("error")):
		value = strconv.FormatBool(has("result"))
	case strings.HasSuffix(field, " /data/turnId"):
		value = quoted(l.lastTurn(i))
	case field == "assistant.message /data/content" && len(e.requests()) > 0:
		value = `""`
	case field == "user.message /data/content" && has("transformedContent"):
		_, said, _ := strings.Cut(e.text("transformedContent"), "</current_datetime>\n\n")
		value = string(docedit.QuoteText(said))
	case field == "tool.execution_complete /data/toolCallId", field == "tool.execution_start /data/toolCallId":
		return l.lackingCall(i)
	case field == "tool.execution_start /data/toolName":
		value = quoted(textOf(l.requestOf(n.call).Name))
	case strings.HasPrefix(field, "assistant.message /data/toolRequests/"):
		value = quoted(l.findRequest(i, e.requests(), pointer))
	case strings.HasPrefix(field, "subagent."):
		value = quoted(l.findOfChild(n, strings.TrimPrefix(pointer, "/data/")))
	default:
		value = fixed[field]
	}
	if value == "" {
		return likely[field], true
	}
	return value, false
}

// eventAt reads a line as it is to be.
func (l *log) eventAt(i int) *event {
	if text, err := l.text.Line(l.nodes[i].Span); err == nil {
		if e := parseEvent(mended(text, l.mendsOf(i)...)); e != nil {
			return e
		}
	}
	return &event{}
}

// nearestTime is the time of the last line before another one that has one, or else of the first behind it.
func (l *log) nearestTime(i int) string {
	for k := range 2 * len(l.nodes) {
		at := i - 1 - k
		if at < 0 {
			at = min(k, len(l.nodes)-1)
		}
		if e := l.eventAt(at); isTime(e.Time) {
			return string(e.Time)
		}
	}
	return `"1970-01-01T00:00:00.000Z"`
}

// lastTurn is the turn that an agent began last.
func (l *log) lastTurn(i int) string {
	for _, n := range slices.Backward(l.nodes[:i]) {
		if n.kind == turnStart && n.agent == l.nodes[i].agent && n.turn != 0 {
			return l.Text(n.turn)
		}
	}
	return "0"
}

// lackingCall is the call of the last answer before a line that has no such line yet: a guess where there are several.
func (l *log) lackingCall(i int) (value string, guess bool) {
	var open []filelog.Name
	for k := i - 1; k >= 0 && len(open) == 0; k-- {
		if n := &l.nodes[k]; n.kind == answer && n.agent == l.nodes[i].agent {
			open = slices.Clone(l.callsOf(n))
		}
	}
	open = slices.DeleteFunc(open, func(call filelog.Name) bool {
		return slices.ContainsFunc(l.nodes, func(n node) bool { return n.kind == l.nodes[i].kind && n.call == call })
	})
	if len(open) == 0 {
		return "", false
	}
	return quoted(l.Text(open[0])), len(open) > 1
}

// requestOf is a call as an answer has it.
func (l *log) requestOf(call filelog.Name) request {
	if at, made := l.made[call]; made && call != 0 {
		for _, r := range l.eventAt(at).requests() {
			if textOf(r.ID) == l.Text(call) {
				return r
			}
		}
	}
	return request{}
}

// findRequest finds the id or the tool of a call: the lines say it that the tools of the answer began with.
func (l *log) findRequest(i int, list []request, pointer string) string {
	var nth int
	var member string
	if n, _ := fmt.Sscanf(pointer, "/data/toolRequests/%d/%s", &nth, &member); n < 2 || nth >= len(list) {
		return ""
	}
	lacking := slices.DeleteFunc(slices.Clone(list[:nth]), func(r request) bool { return r.ID.Kind() == '"' })
	var begun []filelog.Name // which no answer makes
	for at := i + 1; at < len(l.nodes) && (l.nodes[at].kind != answer || l.nodes[at].agent != l.nodes[i].agent); at++ {
		n := &l.nodes[at]
		if n.kind != began || n.agent != l.nodes[i].agent || n.call == 0 {
			continue
		}
		if member == "name" && l.Text(n.call) == textOf(list[nth].ID) {
			return l.eventAt(at).text("toolName")
		}
		if _, elsewhere := l.made[n.call]; !elsewhere {
			begun = append(begun, n.call)
		}
	}
	if member == "name" || len(lacking) >= len(begun) {
		return ""
	}
	return l.Text(begun[len(lacking)])
}

// findOfChild finds what the beginning of a sub-agent says, or the call that started it.
func (l *log) findOfChild(n *node, field string) string {
	of := agent{call: n.call}
	if at, known := l.starts[n.call]; known && n.call != 0 {
		of = l.agents[at]
	} else if at, known := l.index[n.agent]; known {
		of = l.agents[at]
	}
	args := membersOf(l.requestOf(of.call).Args)
	return map[string]string{
		"toolCallId": l.Text(of.call), "agentName": cmp.Or(of.name, textOf(args["agent_type"])), "agentDisplayName": cmp.Or(of.title, textOf(args["name"])),
		"agentDescription": textOf(args["description"]),
	}[field]
}

// startLine is the first line of a session that has lost it.
func (l *log) startLine() []byte {
	first, id := jsontext.Value(l.nearestTime(0)), l.DeriveUUID(l.session)
	if parent := l.nodes[0].parent; parent != 0 && l.ids[parent] == 0 {
		id = l.Text(parent)
	}
	data, _ := json.Marshal(map[string]any{"sessionId": l.session, "version": 1, "producer": producer, "copilotVersion": lastVersion, "startTime": first})
	return fmt.Appendf(nil, `{"type":"session.start","data":%s,"id":%q,"timestamp":%s,"parentId":null}`, data, id, first)
}
