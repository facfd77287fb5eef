package mastra_test

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
)

// release is what tells one release's files from another's.
type release struct {
	leaks bool // what a sub-agent says is stored in its caller's thread (before 1.23)
	newer bool // parts have times, errors a state of their own (1.71)
	lists bool // results list the calls of the sub-agent (1.12)
}

var releases = []release{{}, {lists: true}, {lists: true, newer: true}}

// build writes a file of a release with what programs stored: a turn when it is over.
func build(path string, of release, programs ...[]player.Write) error {
	schema := []string{
		`CREATE TABLE mastra_threads (id TEXT NOT NULL PRIMARY KEY, "resourceId" TEXT NOT NULL, title TEXT NOT NULL, metadata TEXT, "createdAt" TEXT NOT NULL, "updatedAt" TEXT NOT NULL)`,
		`CREATE TABLE mastra_messages (id TEXT NOT NULL PRIMARY KEY, thread_id TEXT NOT NULL, content TEXT NOT NULL, role TEXT NOT NULL, type TEXT NOT NULL, "createdAt" TEXT NOT NULL, "resourceId" TEXT)`,
		`CREATE TABLE mastra_workflow_snapshot (workflow_name TEXT, run_id TEXT, "resourceId" TEXT, snapshot TEXT, "createdAt" TEXT, "updatedAt" TEXT, UNIQUE (workflow_name, run_id))`,
	}
	return builder.Create(path, schema, func(db *builder.DB) {
		e := encoder{db: db, release: of, now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), rng: rand.New(rand.NewPCG(7, 7)),
			threads: map[*player.Session]*thread{}, answers: map[string]*player.Message{}, children: map[string]*thread{}}
		for _, writes := range programs {
			for _, w := range writes {
				e.write(w)
			}
		}
	})
}

type object = map[string]any

type encoder struct {
	db *builder.DB
	release
	now      time.Time
	rng      *rand.Rand
	threads  map[*player.Session]*thread
	answers  map[string]*player.Message // by call
	children map[string]*thread         // by call
}

// thread is a thread with the turn that goes on in it.
type thread struct {
	id, resource    string
	root            *thread
	asked           *player.Message
	began, answered time.Time
	parts, made     []object
	said            string
	stored          bool
}

func (e *encoder) write(w player.Write) {
	e.now = e.now.Add(7 * time.Millisecond)
	t, m := e.threads[w.Session], w.Message
	switch {
	case m == nil:
		t = &thread{id: w.Session.ID, resource: "user-ada"}
		if t.root = t; w.Session.Parent != nil {
			up := e.threads[w.Session.Parent]
			t = &thread{id: up.id + "-" + w.Session.ID, resource: up.resource + "-kid", root: up.root}
			e.children[w.Session.Call] = t
		}
		e.threads[w.Session] = t
	case m.Role == "user":
		t.asked, t.began, t.answered, t.parts, t.said = m, e.now, time.Time{}, nil, ""
	case m.Role == "tool":
		e.answers[m.Answered] = m
	case m.Summary:
	case m.Reason == "":
		if t.answered.IsZero() {
			t.answered = e.now
		}
	default:
		e.step(t, m)
	}
}

// step adds a step of a turn, and stores the turn at its end.
func (e *encoder) step(t *thread, m *player.Message) {
	add := func(p object) {
		if e.newer {
			p["createdAt"] = e.now.UnixMilli()
		}
		t.parts = append(t.parts, p)
	}
	if len(t.parts) > 0 {
		add(object{"type": "step-start"})
	}
	if m.Thoughts != "" {
		add(object{"type": "reasoning", "reasoning": m.Thoughts, "details": []object{{"type": "text", "text": m.Thoughts}}})
	}
	if m.Text != "" && m.Error == "" {
		add(object{"type": "text", "text": m.Text})
		t.said = m.Text
	}
	for _, c := range m.Calls {
		add(object{"type": "tool-invocation", "toolInvocation": e.call(t, c)})
	}
	if m.Reason == "tool_use" {
		return
	}
	if m.Error != "" {
		add(object{"type": "error", "error": object{"name": "Error", "message": m.Error}})
	}
	e.store(t, m.ID)
}

func (e *encoder) call(t *thread, c player.Asked) object {
	args, answer := object{}, e.answers[c.ID]
	_ = json.Unmarshal([]byte(c.Args), &args) // programs have valid ones
	call := object{"state": "result", "toolCallId": c.ID, "toolName": c.Tool, "args": args, "result": object{"said": answer.Text}}
	switch child := e.children[c.ID]; {
	case child != nil:
		call["toolName"] = "agent-kid"
		result := object{"text": answer.Text, "subAgentThreadId": child.id, "subAgentResourceId": child.resource}
		if e.lists {
			result["subAgentToolResults"] = append([]object{}, child.made...)
		}
		call["result"] = result
	case answer.Failed && e.newer:
		delete(call, "result")
		call["state"], call["errorText"] = "output-error", answer.Text
	}
	t.made = append(t.made, object{"toolName": call["toolName"], "toolCallId": c.ID, "args": args, "result": call["result"]})
	return call
}

// store writes a turn. A release that leaks puts what a sub-agent says into the root's thread.
func (e *encoder) store(t *thread, id string) {
	stamp := func(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
	if !t.stored {
		t.stored = true
		e.db.Insert("mastra_threads", builder.Object{{"id", t.id}, {"resourceId", t.resource}, {"title", ""}, {"createdAt", stamp(t.began)}, {"updatedAt", stamp(e.now)}})
	}
	row := func(in *thread, id, role string, at time.Time, parts []object) {
		content := object{"format": 2, "parts": parts}
		if last := parts[len(parts)-1]; last["type"] == "text" {
			content["content"] = last["text"]
		}
		text, _ := json.Marshal(content) // never fails on these
		e.db.Insert("mastra_messages", builder.Object{{"id", id}, {"thread_id", in.id}, {"content", string(text)}, {"role", role}, {"type", "v2"}, {"createdAt", stamp(at)}, {"resourceId", in.resource}})
	}
	row(t, t.asked.ID, "user", t.began, []object{{"type": "text", "text": t.asked.Text}})
	in, at := t, t.answered
	if e.leaks {
		in, at = t.root, e.now // such releases give a turn the time of its end
	}
	row(in, id, "assistant", at, t.parts)
	t.parts = nil
}
