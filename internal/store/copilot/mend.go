package copilot

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// mend is a value that lets a line load.
type mend struct {
	flaw
	value *string // JSON; nil takes the value out
	guess bool    // nothing in the file says that it is so
}

// mended is a line with its mends.
func mended(text []byte, mends []mend) []byte {
	for _, m := range mends {
		var value []byte
		if m.value != nil {
			value = []byte(*m.value)
		}
		if now, err := jsonedit.SetValue(text, m.pointer, value); err == nil {
			text = now
		}
	}
	return text
}

// mendLines finds out what lets each line load that does not fit. The session is read as if that were
// done; what nothing mends has to leave.
func (l *log) mendLines(lines *filelog.Window) error {
	for _, i := range slices.Sorted(maps.Keys(l.flaws)) {
		text, err := lines.Line(l.nodes[i].Span)
		if err != nil {
			return err
		}
		text = slices.Clone(text)
		for range 2 { // an object that is put in place of another value can lack members
			e, _ := parseEvent(mended(text, l.mends[i]))
			for _, f := range e.checkEvent() {
				m := mend{flaw: f}
				if m.wanted {
					said, how := l.findValue(i, &e, f, lines)
					if m.value, m.guess = &said, how == guessed; how == unknown {
						l.gone[i] = true
					}
				}
				l.mends[i] = append(l.mends[i], m)
			}
		}
		n := node{Span: l.nodes[i].Span, number: l.nodes[i].number, open: l.nodes[i].open, passed: l.nodes[i].passed}
		e, _ := parseEvent(mended(text, l.mends[i]))
		l.fillNode(i, &n, &e)
		if l.gone[i] = l.gone[i] || len(e.checkEvent()) > 0; l.gone[i] {
			n = node{Span: n.Span, number: n.number, kind: unread, id: n.id, parent: n.parent}
			l.wrong[i] = l.flaws[i][0].says
			delete(l.mends, i)
		}
		l.nodes[i] = n
	}
	return nil
}

// certainty is how a value is known.
type certainty uint8

const (
	unknown certainty = iota
	guessed
	known
)

// findValue finds the value that a line lacks: in the line itself, or in its partners.
func (l *log) findValue(i int, e *event, f flaw, lines *filelog.Window) (value string, how certainty) {
	is := func(text string) (string, certainty) { return string(docedit.QuoteText(text)), known }
	has := func(name string) bool { return len(e.members[name]) > 0 && e.members[name].Kind() != 'n' }
	switch f.pointer {
	case "/id":
		if next := i + 1; next < len(l.nodes) && isUUID().MatchString(l.Text(l.nodes[next].parent)) && !l.hasLine(l.nodes[next].parent) {
			return is(l.Text(l.nodes[next].parent))
		}
		return is(l.deriveUUID(fmt.Sprint(i, l.nodes[i].Offset)))
	case "/timestamp":
		return l.nearestTime(i, lines), known
	case "/parentId":
		if i > 0 && l.nodes[i-1].id != 0 {
			return is(l.Text(l.nodes[i-1].id))
		}
		return "null", known
	}
	field := strings.TrimPrefix(f.pointer, "/data/")
	switch e.Type + " " + field {
	case "session.start sessionId":
		return is(l.session)
	case "session.start version":
		return "1", known
	case "session.start producer":
		return is(producer)
	case "session.start copilotVersion":
		return is(lastVersion)
	case "session.start startTime", "session.resume resumeTime":
		return l.nearestTime(i+1, lines), known
	case "session.resume eventCount":
		return strconv.Itoa(i), known
	case "session.compaction_complete success":
		return strconv.FormatBool(has("summaryContent")), known
	case "assistant.turn_start turnId", "assistant.turn_end turnId":
		return is(l.lastTurn(i))
	case "assistant.message messageId":
		return is(l.deriveUUID(fmt.Sprint("message", i, l.nodes[i].Offset)))
	case "assistant.message content":
		if len(e.requests()) > 0 {
			return `""`, known
		}
		return `""`, guessed
	case "user.message content":
		if has("transformedContent") {
			_, said, _ := strings.Cut(e.text("transformedContent"), "</current_datetime>\n\n")
			return is(said)
		}
	case "system.message role":
		return `"system"`, known
	case "system.message content": // the next one is made anew
		return `""`, known
	case "system.notification content", "tool.execution_complete result/content", "tool.execution_complete error/message":
		return `""`, guessed
	case "tool.execution_complete success":
		if has("result") || has("error") {
			return strconv.FormatBool(has("result")), known
		}
		return "false", guessed
	case "tool.execution_complete toolCallId", "tool.execution_start toolCallId":
		return l.lackingCall(i, l.nodes[i].kind)
	case "tool.execution_start toolName":
		return l.partnerValue(l.made, l.nodes[i].call, lines, func(e *event) string {
			for _, r := range e.requests() {
				if r.ID == l.Text(l.nodes[i].call) {
					return r.Name
				}
			}
			return ""
		})
	}
	if nth, member, _ := strings.Cut(strings.TrimPrefix(field, "toolRequests/"), "/"); e.Type == "assistant.message" && nth != field {
		return l.findRequest(i, e, nth, member, lines)
	}
	if strings.HasPrefix(e.Type, "subagent.") {
		return l.findOfChild(i, field, lines)
	}
	return "", unknown
}

// hasLine reports whether a line has an id.
func (l *log) hasLine(id filelog.Name) bool {
	return slices.ContainsFunc(l.nodes, func(n node) bool { return n.id == id })
}

// deriveUUID derives an identifier that nothing has, the same for the same seed.
func (l *log) deriveUUID(seed string) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "sessctl %d\n%s", n, seed))
		sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // RFC 9562: its bits are of no time, name or chance
		if id := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]); !l.Known(id) {
			return id
		}
	}
}

// eventAt reads a line as it is to be.
func (l *log) eventAt(i int, lines *filelog.Window) (e event) {
	if text, err := lines.Line(l.nodes[i].Span); err == nil {
		e, _ = parseEvent(mended(text, l.mends[i]))
	}
	return e
}

// nearestTime is the time of the last line before another one that has one, or the first behind it.
func (l *log) nearestTime(i int, lines *filelog.Window) string {
	for k := range len(l.nodes) {
		at := i - 1 - k
		if at < 0 {
			at = k
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

// lackingCall is the call of the last answer before a line that has no such line yet.
func (l *log) lackingCall(i int, of kind) (value string, how certainty) {
	var open []filelog.Name
	for k := i - 1; k >= 0 && len(open) == 0; k-- {
		if n := &l.nodes[k]; n.kind == answer && n.agent == l.nodes[i].agent {
			open = slices.Clone(l.callsOf(n))
		}
	}
	for k := range l.nodes {
		if n := &l.nodes[k]; n.kind == of {
			open = slices.DeleteFunc(open, func(call filelog.Name) bool { return call == n.call })
		}
	}
	if len(open) == 0 {
		return "", unknown
	}
	how = guessed
	if len(open) == 1 {
		how = known
	}
	return string(docedit.QuoteText(l.Text(open[0]))), how
}

// partnerValue is what the line says that a table has for a call.
func (l *log) partnerValue(table map[filelog.Name]int32, call filelog.Name, lines *filelog.Window, say func(*event) string) (string, certainty) {
	if at, there := table[call]; there && call != 0 {
		if e := l.eventAt(int(at), lines); say(&e) != "" {
			return string(docedit.QuoteText(say(&e))), known
		}
	}
	return "", unknown
}

// findRequest finds the id or the tool of a call: the line says it that the tool began with.
func (l *log) findRequest(i int, e *event, nth, member string, lines *filelog.Window) (string, certainty) {
	var list []struct {
		ID jsontext.Value `json:"toolCallId"`
	}
	k, err := strconv.Atoi(nth)
	if _ = jsonscan.Exact.Unmarshal(e.members["toolRequests"], &list); err != nil || k >= len(list) {
		return "", unknown
	}
	lacking := 0 // calls before it without an id
	for _, r := range list[:k] {
		if r.ID.Kind() != '"' {
			lacking++
		}
	}
	for at := i + 1; at < len(l.nodes); at++ {
		n := &l.nodes[at]
		_, elsewhere := l.made[n.call]
		switch {
		case n.kind == answer && n.agent == l.nodes[i].agent:
			return "", unknown
		case n.kind != began && (n.kind != result || member == "name") || n.agent != l.nodes[i].agent:
		case member == "name" && l.Text(n.call) == textOf(list[k].ID):
			tool := l.eventAt(at, lines)
			return string(docedit.QuoteText(tool.text("toolName"))), known
		case member == "toolCallId" && n.call != 0 && !elsewhere && !slices.ContainsFunc(list, func(r struct {
			ID jsontext.Value `json:"toolCallId"`
		}) bool {
			return textOf(r.ID) == l.Text(n.call)
		}):
			if lacking--; lacking < 0 {
				return string(docedit.QuoteText(l.Text(n.call))), known
			}
		}
	}
	return "", unknown
}

// findOfChild finds what another line of a sub-agent says, or the call that started it.
func (l *log) findOfChild(i int, field string, lines *filelog.Window) (string, certainty) {
	call := l.nodes[i].call
	for k := range l.nodes {
		n := &l.nodes[k]
		if k == i || n.call != call && (n.agent == 0 || n.agent != l.nodes[i].agent) {
			continue
		}
		if field == "toolCallId" && n.under != 0 {
			return string(docedit.QuoteText(l.Text(n.under))), known
		}
		if e := l.eventAt(k, lines); (n.kind == childStart || n.kind == childEnd) && e.text(field) != "" {
			return string(docedit.QuoteText(e.text(field))), known
		}
	}
	argument := map[string]string{"agentName": "agent_type", "agentDisplayName": "name", "agentDescription": "description"}[field]
	return l.partnerValue(l.made, call, lines, func(e *event) string {
		for _, r := range e.requests() {
			if args := membersOf(r.Args); r.ID == l.Text(call) {
				return textOf(args[argument])
			}
		}
		return ""
	})
}

// startLine is the first line of a session that has lost it.
func (l *log) startLine(lines *filelog.Window) []byte {
	first, id := l.nearestTime(0, lines), l.deriveUUID(l.session)
	for i := range l.nodes {
		if parent := l.nodes[i].parent; parent != 0 && !l.hasLine(parent) {
			id = l.Text(parent)
		}
		break
	}
	data, _ := json.Marshal(map[string]any{"sessionId": l.session, "version": 1, "producer": producer, "copilotVersion": lastVersion, "startTime": jsontext.Value(first)})
	return fmt.Appendf(nil, `{"type":"session.start","data":%s,"id":%q,"timestamp":%s,"parentId":null}`, data, id, first)
}
