// Package claudetest writes folders as Claude Code does, for tests.
package claudetest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
)

// Versions are one of each form: 2.0 chains the results of a message and has the lines of
// sub-agents in the file of their caller.
var Versions = []string{"2.0.14", "2.1.197", "2.1.330"}

// Line is a line of a transcript.
type Line map[string]any

// Build writes the folder of Claude Code with what programs stored, each list of writes as
// far as its runtime came, and returns the paths of their transcripts.
func Build(home, version string, seed uint64, programs ...[]player.Write) (transcripts []string, err error) {
	rng := rand.New(rand.NewPCG(seed, 0xc1a0de))
	for _, writes := range programs {
		e := encoder{rng: rng, version: version, new: version > "2.1", logs: map[*player.Session]*log{}}
		for _, w := range writes {
			e.write(w)
		}
		folder := filepath.Join(home, "projects", "-srv-demo-proj")
		root := filepath.Join(folder, writes[0].Session.ID)
		transcripts = append(transcripts, root+".jsonl")
		for s, l := range e.logs {
			switch {
			case s.Parent == nil:
				err = write(root+".jsonl", l.lines...)
			case e.new:
				name := filepath.Join(root, "subagents", "agent-"+l.agent)
				if err = write(name+".jsonl", l.lines...); err == nil {
					err = write(name+".meta.json", Line{"agentType": "general-purpose", "description": "a task", "toolUseId": s.Call, "spawnDepth": 1})
				}
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return transcripts, nil
}

// write writes lines into a file.
func write(path string, lines ...Line) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var text bytes.Buffer
	for _, l := range lines {
		one, err := json.Marshal(l)
		if err != nil {
			return err
		}
		text.Write(append(one, '\n'))
	}
	return os.WriteFile(path, text.Bytes(), 0o600)
}

// encoder makes lines of writes.
type encoder struct {
	rng     *rand.Rand
	version string
	new     bool
	logs    map[*player.Session]*log
	clock   time.Duration
}

// log is a file while it is written; in 2.0 that of a sub-agent is its caller's.
type log struct {
	lines []Line
	agent string
	tip   map[*player.Session]any // the parent of the next line
	calls map[string]any          // the line of a call
	done  map[string]int          // the blocks that a message has lines for
}

func (e *encoder) log(s *player.Session) *log {
	if s.Parent != nil && !e.new {
		return e.log(s.Parent)
	}
	l := e.logs[s]
	if l == nil {
		l = &log{tip: map[*player.Session]any{}, calls: map[string]any{}, done: map[string]int{}, agent: "a" + builder.UUID(e.rng)[:8]}
		e.logs[s] = l
	}
	return l
}

func (e *encoder) write(w player.Write) {
	l, m := e.log(w.Session), w.Message
	if m == nil {
		return
	}
	switch m.Role {
	case "user":
		line := e.line(l, w, "user", Line{"role": "user", "content": m.Text})
		e.add(l, w.Session, line)
		if e.new {
			at := e.line(l, w, "attachment", nil)
			at["attachment"] = Line{"type": "environment"}
			e.add(l, w.Session, at)
		}
	case "tool":
		e.result(l, w)
	case "assistant":
		e.answer(l, w)
	}
}

// answer adds a line for each block that is complete.
func (e *encoder) answer(l *log, w player.Write) {
	m := w.Message
	if m.Summary {
		e.compact(l, w)
		return
	}
	if m.Error != "" {
		line := e.line(l, w, "assistant", Line{"id": m.ID, "role": "assistant", "model": "<synthetic>", "content": []Line{{"type": "text", "text": m.Error}}})
		line["isApiErrorMessage"] = true
		e.add(l, w.Session, line)
		return
	}
	var blocks []Line
	ended := m.Reason != ""
	if m.Thoughts != "" && (m.Text != "" || len(m.Calls) > 0 || ended) {
		blocks = append(blocks, Line{"type": "thinking", "thinking": m.Thoughts, "signature": base64.StdEncoding.EncodeToString([]byte(m.Thoughts))})
	}
	if m.Text != "" && (len(m.Calls) > 0 || ended) {
		blocks = append(blocks, Line{"type": "text", "text": m.Text})
	}
	for _, c := range m.Calls {
		if !c.Complete {
			break
		}
		name, input := "Bash", json.RawMessage(c.Args)
		if c.Tool == "agent" {
			if name = "Task"; e.new {
				name = "Agent"
			}
		}
		blocks = append(blocks, Line{"type": "tool_use", "id": c.ID, "name": name, "input": input})
	}
	for ; l.done[m.ID] < len(blocks); l.done[m.ID]++ {
		b := blocks[l.done[m.ID]]
		line := e.line(l, w, "assistant", Line{"id": "msg_" + m.ID, "role": "assistant", "model": "claude-opus-4-8", "content": []Line{b}})
		if id, ok := b["id"].(string); ok {
			l.calls[id] = line["uuid"]
		}
		e.add(l, w.Session, line)
		if w.Session.Parent == nil {
			l.lines = append(l.lines, Line{"type": "last-prompt", "leafUuid": line["uuid"], "sessionId": line["sessionId"]})
		}
	}
}

// result adds the line of a result, in 2.1 below its own call.
func (e *encoder) result(l *log, w player.Write) {
	m := w.Message
	line := e.line(l, w, "user", Line{"role": "user", "content": []Line{{"type": "tool_result", "tool_use_id": m.Answered, "content": m.Text, "is_error": m.Failed}}})
	line["toolUseResult"] = Line{"stdout": m.Text}
	if e.new {
		line["parentUuid"], line["sourceToolAssistantUUID"] = l.calls[m.Answered], l.calls[m.Answered]
	}
	e.add(l, w.Session, line)
}

// compact adds a boundary and the summary behind it, when that is complete.
func (e *encoder) compact(l *log, w player.Write) {
	if w.Message.Reason == "" {
		return
	}
	at := e.line(l, w, "system", nil)
	at["subtype"], at["parentUuid"], at["logicalParentUuid"] = "compact_boundary", nil, at["parentUuid"]
	at["compactMetadata"] = Line{"trigger": "auto"}
	e.add(l, w.Session, at)
	line := e.line(l, w, "user", Line{"role": "user", "content": w.Message.Text})
	line["isCompactSummary"], line["isVisibleInTranscriptOnly"] = true, true
	e.add(l, w.Session, line)
}

// line is a line of the chain.
func (e *encoder) line(l *log, w player.Write, kind string, message Line) Line {
	root := w.Session
	for root.Parent != nil {
		root = root.Parent
	}
	e.clock += time.Duration(1+e.rng.IntN(50)) * time.Millisecond
	line := Line{
		"parentUuid": l.tip[w.Session], "isSidechain": w.Session.Parent != nil, "type": kind, "uuid": builder.UUID(e.rng),
		"timestamp": time.Unix(w.Session.Began, 0).UTC().Add(e.clock).Format("2006-01-02T15:04:05.000Z"),
		"userType":  "external", "entrypoint": "cli", "cwd": "/srv/demo/proj", "sessionId": root.ID, "version": e.version, "gitBranch": "main",
	}
	if message != nil {
		line["message"] = message
	}
	if w.Session.Parent != nil && e.new {
		line["agentId"] = l.agent
	}
	return line
}

// add appends a line, below which the next one hangs.
func (e *encoder) add(l *log, s *player.Session, line Line) {
	l.tip[s] = line["uuid"]
	l.lines = append(l.lines, line)
}
