package copilot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// object is a line, or a part of one.
type object = map[string]any

// encoder writes lines as Copilot CLI 1.0.102 does, or 1.0.24.
type encoder struct {
	rng    *rand.Rand
	old    bool
	lines  []object
	last   any
	clock  time.Time
	agents map[*player.Session]string
	runs   map[*player.Session]string
	turns  map[*player.Session]int
	asked  map[string]string // the prompts of sub-agents, by their calls
	done   map[string]bool
	kids   map[string]*player.Session
	said   map[*player.Session]*player.Message // the last answers
}

// built writes the folder of a random program, ended early where cut is below 1, and returns its
// file of events.
func built(t storetest.Tester, folder string, seed uint64, cut float64) (home, file string) {
	t.Helper()
	writes := player.Play(player.RandomProgram(seed, 1+int(seed%4)), seed)
	e := &encoder{
		rng: rand.New(rand.NewPCG(seed, 0xc0b1107)), old: seed%5 == 4, clock: time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC), agents: map[*player.Session]string{},
		runs: map[*player.Session]string{}, turns: map[*player.Session]int{}, asked: map[string]string{}, done: map[string]bool{}, kids: map[string]*player.Session{}, said: map[*player.Session]*player.Message{},
	}
	for _, w := range writes {
		if m := w.Message; w.Session.Parent != nil && m != nil && m.Role == "user" && e.asked[w.Session.Call] == "" {
			e.asked[w.Session.Call] = m.Text
		}
	}
	for _, w := range writes[:max(3, int(float64(len(writes))*cut))] {
		e.write(w)
	}
	home = filepath.Join(folder, fmt.Sprint("home", seed))
	file = filepath.Join(home, "session-state", writes[0].Session.ID, "events.jsonl")
	var text bytes.Buffer
	for _, l := range e.lines {
		one, _ := json.Marshal(l)
		text.Write(append(one, '\n'))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	return home, file
}

// add appends a line.
func (e *encoder) add(s *player.Session, kind string, data object) {
	e.clock = e.clock.Add(time.Duration(1+e.rng.IntN(50)) * time.Millisecond)
	l := object{"type": kind, "data": data, "id": builder.UUID(e.rng), "timestamp": e.clock.Format("2006-01-02T15:04:05.000Z"), "parentId": e.last}
	e.last = l["id"]
	if s.Parent != nil && !e.old {
		l["agentId"] = e.agents[s]
	}
	switch kind {
	case "assistant.message", "tool.execution_start", "tool.execution_complete", "assistant.turn_start", "assistant.turn_end":
		if s.Parent != nil {
			data["parentToolCallId"] = s.Call
		}
	}
	e.lines = append(e.lines, l)
}

func (e *encoder) write(w player.Write) {
	s, m := w.Session, w.Message
	turn := fmt.Sprint(e.turns[s])
	switch {
	case m == nil && s.Parent == nil:
		version := "1.0.102"
		if e.old {
			version = "1.0.24"
		}
		e.add(s, "session.start", object{"sessionId": s.ID, "version": 1, "producer": "copilot-agent", "copilotVersion": version, "startTime": e.clock.Format(time.RFC3339), "context": object{"cwd": "/srv/demo"}})
	case m == nil:
		e.flush(s.Parent)
		e.agents[s], e.kids[s.Call] = builder.UUID(e.rng), s
		e.add(s, "subagent.started", object{"toolCallId": s.Call, "agentName": "general-purpose", "agentDisplayName": "kid", "agentDescription": "a kid"})
	case m.Role == "user":
		e.runs[s], e.turns[s] = builder.UUID(e.rng), 0
		data := object{"content": m.Text, "transformedContent": "<current_datetime>now</current_datetime>\n\n" + m.Text, "interactionId": e.runs[s]}
		if s.Parent == nil || !e.old {
			if s.Parent != nil {
				data["source"] = "agent-" + e.agents[s.Parent]
				if s.Parent.Parent == nil {
					data["source"] = "agent-" + s.Parent.ID
				}
			}
			e.add(s, "user.message", data)
		}
	case m.Role == "assistant" && m.Error == "":
		if e.said[s] = m; m.Reason != "" {
			e.flush(s)
		}
	case m.Role == "tool" && !e.done[m.ID]:
		e.done[m.ID] = true
		e.flush(s)
		if kid := e.kids[m.Answered]; kid != nil {
			e.add(kid, "subagent.completed", object{"toolCallId": m.Answered, "agentName": "general-purpose", "agentDisplayName": "kid"})
		}
		data := object{"toolCallId": m.Answered, "success": !m.Failed, "interactionId": e.run(s), "turnId": turn}
		if m.Failed {
			data["error"] = object{"message": m.Text}
		} else {
			data["result"] = object{"content": m.Text}
		}
		e.add(s, "tool.execution_complete", data)
	}
}

// flush adds the answer that a session wrote last, once.
func (e *encoder) flush(s *player.Session) {
	m := e.said[s]
	if m == nil || e.done[m.ID] {
		return
	}
	if e.done[m.ID] = true; m.Summary {
		e.add(s, "session.compaction_complete", object{"success": true, "summaryContent": m.Text})
		return
	}
	e.answer(s, m, fmt.Sprint(e.turns[s]))
}

// run is what the lines of a prompt have in common: up to 1.0.24 those of sub-agents, too.
func (e *encoder) run(s *player.Session) string {
	for e.old && s.Parent != nil {
		s = s.Parent
	}
	return e.runs[s]
}

// answer adds the lines of an answer.
func (e *encoder) answer(s *player.Session, m *player.Message, turn string) {
	if e.turns[s]++; s.Parent == nil || !e.old {
		e.add(s, "assistant.turn_start", object{"turnId": turn, "interactionId": e.run(s)})
	}
	if !e.old {
		usage := object{"model": "claude-sonnet-4.5"}
		if s.Parent != nil {
			usage["parentToolCallId"] = s.Call
		}
		e.add(s, "session.usage_record", object{"usage": usage})
	}
	var requests []object
	for _, c := range m.Calls {
		name, args := "bash", any(json.RawMessage(c.Args))
		if !json.Valid([]byte(c.Args)) {
			args = object{}
		}
		if c.Tool == "agent" {
			name, args = "task", object{"agent_type": "general-purpose", "name": "kid", "description": "a kid", "prompt": e.asked[c.ID], "mode": "sync"}
		}
		requests = append(requests, object{"toolCallId": c.ID, "name": name, "arguments": args, "type": "function"})
	}
	e.add(s, "assistant.message", object{"messageId": builder.UUID(e.rng), "content": m.Text, "toolRequests": requests, "interactionId": e.run(s), "turnId": turn, "model": "claude-sonnet-4.5"})
	for _, r := range requests {
		e.add(s, "tool.execution_start", object{"toolCallId": r["toolCallId"], "toolName": r["name"], "arguments": r["arguments"], "turnId": turn})
	}
	if len(requests) == 0 {
		e.add(s, "assistant.turn_end", object{"turnId": turn})
	}
}
