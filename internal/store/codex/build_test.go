package codex_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
)

// versions are one of each form: up to 0.1x, lines have no numbers and turns no ends.
var versions = []string{"0.63.0", "0.169.0"}

type object = builder.Object

// build writes the folder of Codex with what programs stored, each list of writes as far as its
// runtime came, and gives the paths of the rollouts in the order in which they began.
func build(home, version string, programs ...[]player.Write) (files []string, err error) {
	e := encoder{version: version, now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), logs: map[*player.Session]*log{}}
	for _, writes := range programs {
		for _, w := range writes {
			e.write(w)
		}
	}
	folder := filepath.Join(home, "sessions", "2026", "11", "22")
	err = os.MkdirAll(folder, 0o700)
	for n, l := range e.order {
		files = append(files, filepath.Join(folder, fmt.Sprintf("rollout-2026-11-22T09-00-%02d-%s.jsonl", n, l.id)))
		if err == nil {
			err = os.WriteFile(files[n], l.text.Bytes(), 0o644)
		}
	}
	return files, err
}

// forkOf is a thread that continues a rollout, in the folder of it: from the line behind a place.
func forkOf(file string, lines int) (fork string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	end := 0
	for range lines {
		end += bytes.IndexByte(text[end:], '\n') + 1
	}
	e := encoder{version: versions[1], now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
	base := strings.TrimSuffix(file, ".jsonl")
	base = base[len(base)-36:]
	l := &log{id: "f0" + base[2:], ordinal: lines}
	meta := e.meta(l.id, "")
	meta = append(meta, builder.Member{"forked_from_id", base}, builder.Member{"history_base", object{{"thread_id", base}, {"end_ordinal_exclusive", lines}, {"end_byte_offset", end}}})
	e.add(l, "session_meta", meta)
	e.prompt(l, "fork here")
	e.item(l, message("assistant", "output_text", "as you like"))
	e.event(l, "task_complete", builder.Member{"turn_id", l.turn})
	fork = strings.ReplaceAll(file, "T09-", "T10-")
	fork = fork[:len(fork)-len(".jsonl")-36] + l.id + ".jsonl"
	return fork, os.WriteFile(fork, l.text.Bytes(), 0o644)
}

type encoder struct {
	version string
	now     time.Time
	logs    map[*player.Session]*log
	order   []*log
}

// log is a rollout while it is written.
type log struct {
	id, turn string
	parent   *log
	call     string // of the parent that started it
	text     bytes.Buffer
	ordinal  int
	turns    int
	said     map[string]int // how many parts of a message are there
	usage    bool
}

func (e *encoder) write(w player.Write) {
	l, m := e.logs[w.Session], w.Message
	if m == nil {
		l = &log{id: w.Session.ID, said: map[string]int{}}
		parent := ""
		if w.Session.Parent != nil {
			l.parent, l.call = e.logs[w.Session.Parent], w.Session.Call
			parent = l.parent.id
			e.result(l.parent, l.call, fmt.Sprintf(`{"agent_id":%q,"nickname":"Ampere"}`, l.id))
		}
		e.logs[w.Session], e.order = l, append(e.order, l)
		e.add(l, "session_meta", e.meta(l.id, parent))
		return
	}
	switch {
	case m.Role == "user":
		e.prompt(l, m.Text)
	case m.Role == "tool" && m.Tool == "agent":
		e.item(l, message("user", "input_text", "<subagent_notification>\n"+m.Text))
	case m.Role == "tool":
		e.result(l, m.Answered, m.Text)
	case m.Summary && m.Reason != "":
		history := builder.List{message("user", "input_text", "before"), message("user", "input_text", m.Text)}
		e.add(l, "compacted", object{{"message", m.Text}, {"replacement_history", history}})
	case m.Summary || m.Error != "":
	default:
		e.answer(l, m)
	}
}

// answer writes the items of an answer that are complete.
func (e *encoder) answer(l *log, m *player.Message) {
	var items []object
	last := m.Reason != "" || len(m.Calls) > 0
	if m.Thoughts != "" && (last || m.Text != "") {
		items = append(items, object{{"type", "reasoning"}, {"id", "rs_" + m.ID}, {"summary", builder.List{object{{"type", "summary_text"}, {"text", m.Thoughts}}}}, {"encrypted_content", "ZW5j"}})
	}
	if m.Text != "" && last {
		items = append(items, message("assistant", "output_text", m.Text))
	}
	for _, c := range m.Calls {
		name, args := c.Tool, c.Args
		if !c.Complete {
			continue
		}
		if name == "agent" {
			name, args = "spawn_agent", strings.Replace(args, `"prompt"`, `"message"`, 1)
		}
		items = append(items, object{{"type", "function_call"}, {"id", "fc_" + c.ID}, {"name", name}, {"arguments", args}, {"call_id", c.ID}, e.passed(l)})
	}
	for _, it := range items[min(l.said[m.ID], len(items)):] {
		e.item(l, it)
		l.usage = true
	}
	if l.said[m.ID] = len(items); m.Reason == "end_turn" {
		e.endAnswer(l)
		e.event(l, "task_complete", builder.Member{"turn_id", l.turn})
	}
}

func (e *encoder) endAnswer(l *log) {
	if l.usage {
		e.add(l, "token_usage_record", object{{"thread_id", l.id}})
		l.usage = false
	}
}

func (e *encoder) result(l *log, call, text string) {
	e.endAnswer(l)
	e.event(l, "item_completed", builder.Member{"item", object{{"type", "CommandExecution"}, {"id", call}}})
	e.item(l, object{{"type", "function_call_output"}, {"call_id", call}, {"output", text}, e.passed(l)})
}

func (e *encoder) prompt(l *log, text string) {
	l.turn = fmt.Sprintf("turn-%s-%d", l.id[:4], l.turns)
	if l.turns++; e.version != versions[0] {
		e.event(l, "task_started", builder.Member{"turn_id", l.turn})
	}
	if l.turns == 1 && l.ordinal < 5 {
		e.item(l, message("developer", "input_text", "<permissions instructions>"))
		e.item(l, message("user", "input_text", "<environment_context>\n  <cwd>/srv/demo</cwd>\n</environment_context>"))
	}
	e.add(l, "turn_context", object{{"cwd", "/srv/demo"}, {"model", "gpt-demo"}})
	e.item(l, message("user", "input_text", text))
}

func message(role, kind, text string) object {
	return object{{"type", "message"}, {"role", role}, {"content", builder.List{object{{"type", kind}, {"text", text}}}}}
}

func (e *encoder) meta(id, parent string) object {
	m := object{{"id", id}, {"session_id", id}, {"cwd", "/srv/demo"}, {"cli_version", e.version}, {"source", "exec"}}
	if parent != "" {
		m = append(m, builder.Member{"parent_thread_id", parent})
		m[4][1] = object{{"subagent", object{{"thread_spawn", object{{"parent_thread_id", parent}}}}}}
	}
	return m
}

// passed is what an item says of its turn.
func (e *encoder) passed(l *log) builder.Member {
	return builder.Member{"internal_chat_message_metadata_passthrough", object{{"turn_id", l.turn}}}
}

func (e *encoder) item(l *log, payload object) { e.add(l, "response_item", payload) }

func (e *encoder) event(l *log, kind string, more ...builder.Member) {
	e.add(l, "event_msg", append(object{{"type", kind}}, more...))
}

func (e *encoder) add(l *log, kind string, payload object) {
	e.now = e.now.Add(7 * time.Millisecond)
	line := object{{"timestamp", e.now.Format("2006-01-02T15:04:05.000Z")}}
	if e.version != versions[0] {
		line = append(line, builder.Member{"ordinal", l.ordinal})
	}
	l.ordinal++
	text := builder.Style{}.Text(append(line, builder.Member{"type", kind}, builder.Member{"payload", payload}))
	l.text.WriteString(text + "\n")
}
