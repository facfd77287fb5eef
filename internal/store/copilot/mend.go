package copilot

import (
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

// mend is a value that lets a line load: JSON, "" where it leaves.
type mend struct {
	flaw
	value string
	guess bool // nothing in the file says that it is so
}

// mended is a line with its mends.
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

// mendsOf are those of a line.
func (l *log) mendsOf(i int) []mend {
	if t := l.trouble[i]; t != nil && !t.gone {
		return t.mends
	}
	return nil
}

// mendLines finds out what lets each line load that does not fit. The session is read as if that were
// done; what nothing mends has to leave.
func (l *log) mendLines(lines *filelog.Window) error {
	for _, i := range slices.Sorted(maps.Keys(l.trouble)) {
		t, was := l.trouble[i], l.nodes[i]
		text, err := lines.Line(was.Span)
		if err != nil {
			return err
		}
		text = slices.Clone(text)
		for range 2 { // an object that is put in place of another value can lack members
			e := parseEvent(mended(text, t.mends...))
			if e == nil || was.kind == unread {
				break
			}
			for _, f := range e.checkEvent() {
				m := mend{flaw: f}
				if f.wanted {
					m.value, m.guess = l.findValue(i, e, f.pointer, lines)
					t.gone = t.gone || m.value == ""
				}
				t.mends = append(t.mends, m)
			}
		}
		if was.kind == unread {
			continue
		}
		n := node{Span: was.Span, number: was.number, open: was.open, passed: was.passed}
		if e := parseEvent(mended(text, t.mends...)); e != nil {
			l.fillNode(i, &n, e)
			t.gone = t.gone || len(e.checkEvent()) > 0
		}
		if t.gone {
			n = node{Span: was.Span, number: was.number, kind: unread, id: n.id, parent: n.parent}
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
func (l *log) findValue(i int, e *event, pointer string, lines *filelog.Window) (value string, guess bool) {
	n, field := &l.nodes[i], e.Type+" "+pointer
	has := func(name string) bool { return len(e.members[name]) > 0 && e.members[name].Kind() != 'n' }
	switch {
	case pointer == "/id" && i+1 < len(l.nodes) && isUUID().MatchString(l.Text(l.nodes[i+1].parent)) && l.ids[l.nodes[i+1].parent] == 0:
		value = quoted(l.Text(l.nodes[i+1].parent))
	case pointer == "/id", field == "assistant.message /data/messageId":
		value = quoted(l.DeriveUUID(fmt.Sprint(pointer, i, n.Offset)))
	case pointer == "/timestamp":
		value = l.nearestTime(i, lines)
	case pointer == "/parentId" && i > 0 && l.nodes[i-1].id != 0:
		value = quoted(l.Text(l.nodes[i-1].id))
	case pointer == "/parentId":
		value = "null"
	case field == "session.start /data/sessionId":
		value = quoted(l.session)
	case field == "session.start /data/startTime", field == "session.resume /data/resumeTime":
		value = l.nearestTime(i+1, lines)
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
		value = quoted(textOf(l.requestOf(n.call, lines).Name))
	case strings.HasPrefix(field, "assistant.message /data/toolRequests/"):
		value = quoted(l.findRequest(i, e, strings.Split(pointer, "/"), lines))
	case strings.HasPrefix(field, "subagent."):
		value = quoted(l.findOfChild(i, strings.TrimPrefix(pointer, "/data/"), lines))
	default:
		value = fixed[field]
	}
	if value == "" {
		return likely[field], true
	}
	return value, false
}

// eventAt reads a line as it is to be.
func (l *log) eventAt(i int, lines *filelog.Window) *event {
	if text, err := lines.Line(l.nodes[i].Span); err == nil {
		if e := parseEvent(mended(text, l.mendsOf(i)...)); e != nil {
			return e
		}
	}
	return &event{}
}

// nearestTime is the time of the last line before another one that has one, or else of the first behind it.
func (l *log) nearestTime(i int, lines *filelog.Window) string {
	for k := range 2 * len(l.nodes) {
		at := i - 1 - k
		if at < 0 {
			at = min(k, len(l.nodes)-1)
		}
		if e := l.eventAt(at, lines); e.Time.Kind() == '"' && !slices.ContainsFunc(e.checkEvent(), func(f flaw) bool { return f.pointer == "/timestamp" }) {
			return string(e.Time)
		}
	}
	return `"1970-01-01T00:00:00.000Z"`
}

// lastTurn is the turn that an agent began last.
func (l *log) lastTurn(i int) string {
	for k := i - 1; k >= 0; k-- {
		if n := &l.nodes[k]; n.kind == turnStart && n.agent == l.nodes[i].agent && n.turn != 0 {
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
func (l *log) requestOf(call filelog.Name, lines *filelog.Window) (r request) {
	if at, made := l.made[call]; made && call != 0 {
		list := l.eventAt(at, lines).requests()
		if n := slices.IndexFunc(list, func(r request) bool { return textOf(r.ID) == l.Text(call) }); n >= 0 {
			return list[n]
		}
	}
	return r
}

// findRequest finds the id or the tool of a call: the line says it that the tool began with.
func (l *log) findRequest(i int, e *event, pointer []string, lines *filelog.Window) string {
	const nth, member = 3, 4 // "", "data", "toolRequests"
	list := e.requests()
	k, err := strconv.Atoi(pointer[nth])
	if err != nil || k >= len(list) {
		return ""
	}
	lacking := 0 // calls before it without an id
	for _, r := range list[:k] {
		if r.ID.Kind() != '"' {
			lacking++
		}
	}
	for at := i + 1; at < len(l.nodes) && (l.nodes[at].kind != answer || l.nodes[at].agent != l.nodes[i].agent); at++ {
		n := &l.nodes[at]
		_, elsewhere := l.made[n.call]
		switch {
		case n.kind != began || n.agent != l.nodes[i].agent:
		case pointer[member] == "name" && l.Text(n.call) == textOf(list[k].ID):
			return l.eventAt(at, lines).text("toolName")
		case pointer[member] != "name" && n.call != 0 && !elsewhere:
			if lacking--; lacking < 0 {
				return l.Text(n.call)
			}
		}
	}
	return ""
}

// findOfChild finds what another line of a sub-agent says, or the call that started it.
func (l *log) findOfChild(i int, field string, lines *filelog.Window) string {
	call, agent := l.nodes[i].call, l.nodes[i].agent
	for k := range l.nodes {
		n := &l.nodes[k]
		switch said := ""; {
		case k == i || n.call != call && (n.agent == 0 || n.agent != agent):
		case field == "toolCallId" && n.under != 0:
			return l.Text(n.under)
		case n.kind == childStart || n.kind == childEnd:
			if said = l.eventAt(k, lines).text(field); said != "" {
				return said
			}
		}
	}
	argument := map[string]string{"agentName": "agent_type", "agentDisplayName": "name", "agentDescription": "description"}[field]
	return textOf(membersOf(l.requestOf(call, lines).Args)[argument])
}

// startLine is the first line of a session that has lost it.
func (l *log) startLine(lines *filelog.Window) []byte {
	first, id := jsontext.Value(l.nearestTime(0, lines)), l.DeriveUUID(l.session)
	if parent := l.nodes[0].parent; parent != 0 && l.ids[parent] == 0 {
		id = l.Text(parent)
	}
	data, _ := json.Marshal(map[string]any{"sessionId": l.session, "version": 1, "producer": producer, "copilotVersion": lastVersion, "startTime": first})
	return fmt.Appendf(nil, `{"type":"session.start","data":%s,"id":%q,"timestamp":%s,"parentId":null}`, data, id, first)
}
