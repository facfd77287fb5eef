// Package goosetest writes databases as goose does, for tests.
package goosetest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
)

//go:embed schema.sql
var script string

// Newest is the newest version of the schema. goose 1.50.0 writes 16.
const Newest = 17

// Secret is a value that every database has where goose keeps those of its extensions and
// recipes. No output may have it.
const Secret = "sk-goose-0123456789"

// Build writes a database of a version with what programs stored, each list of writes as
// far as its runtime came.
func Build(path string, version int, programs ...[]player.Write) error {
	sections := builder.ParseSections("\n" + script)
	var schema []string
	for n := 1; n <= version; n++ {
		for _, s := range sections {
			if s.Name == fmt.Sprint(n) {
				schema = append(schema, builder.StatementsOf(sections, s.Name)...)
			}
		}
		schema = append(schema, fmt.Sprintf("INSERT INTO schema_version (version) VALUES (%d)", n))
	}
	return builder.Create(path, schema, func(db *builder.DB) {
		e := encoder{db: db, version: version, ids: map[*player.Session]string{}}
		for _, writes := range programs {
			e.answers, e.asked = map[string]*player.Message{}, map[*player.Session]string{}
			e.children = map[string]*player.Session{}
			for _, w := range writes {
				e.write(w)
			}
		}
	})
}

// encoder writes what a program stored: an answer with its calls and their results when
// all of them are there.
type encoder struct {
	db       *builder.DB
	version  int
	ids      map[*player.Session]string
	answers  map[string]*player.Message // by call
	children map[string]*player.Session // by call
	asked    map[*player.Session]string // the last question
}

func (e *encoder) write(w player.Write) {
	m := w.Message
	switch {
	case m == nil:
		e.session(w.Session)
	case m.Role == "user":
		e.asked[w.Session] = m.Text
		e.message(w.Session, m.ID, "user", m.Began, seen{User: true, Agent: true}, text(m.Text))
		if e.version >= 3 {
			e.message(w.Session, m.ID+"-context", "user", m.Began, seen{Agent: true, Context: true}, text("<turn-context>\nnow\n</turn-context>"))
		}
	case m.Role == "tool":
		e.answers[m.Answered] = m
	case m.Summary && m.Reason != "":
		e.compact(w.Session, m)
	case m.Reason != "" && m.Error == "": // of a request that was refused nothing is stored
		e.step(w.Session, m)
	}
}

type object = map[string]any

func text(s string) object { return object{"type": "text", "text": s} }

// seen is who sees a message.
type seen struct {
	User    bool `json:"userVisible"`
	Agent   bool `json:"agentVisible"`
	Context bool `json:"turnContext,omitempty"`
	Model   any  `json:"inference,omitempty"`
}

// step writes an answer: its text, and each call with its result, in rows of their own.
func (e *encoder) step(s *player.Session, m *player.Message) {
	everybody := seen{User: true, Agent: true, Model: object{"provider": "openai", "requestedModel": "fake"}}
	if m.Text != "" {
		e.message(s, m.ID, "assistant", m.Ended, everybody, text(m.Text))
	}
	for n, c := range m.Calls {
		var parts []object
		if m.Thoughts != "" {
			parts = append(parts, object{"type": "thinking", "thinking": m.Thoughts, "signature": ""})
		}
		name, args := c.Tool, object{}
		_ = json.Unmarshal([]byte(c.Args), &args) // programs have valid ones
		if name == "agent" {
			name, args = "delegate", object{"instructions": args["prompt"]}
		}
		parts = append(parts, object{
			"type": "toolRequest", "id": c.ID, "toolCall": object{"status": "success", "value": object{"name": name, "arguments": args}},
			"_meta": object{"goose.toolCall.providerIndex": n},
		})
		e.message(s, fmt.Sprint(m.ID, "-", n), "assistant", m.Ended, everybody, parts...)
		answer := e.answers[c.ID]
		value := object{"resultType": "complete", "content": []object{text(answer.Text)}, "isError": answer.Failed}
		if child := e.children[c.ID]; child != nil {
			value["_meta"] = object{"subagent_session_id": e.ids[child]}
		}
		e.message(s, answer.ID, "user", m.Ended, seen{User: true, Agent: true}, object{"type": "toolResponse", "id": c.ID, "toolResult": object{"status": "success", "value": value}})
	}
}

// compact hides what there is, and writes a summary with the last question behind it. The
// first versions cannot hide anything.
func (e *encoder) compact(s *player.Session, m *player.Message) {
	if e.version < 3 {
		return
	}
	e.db.Exec(`update messages set metadata_json = json_set(metadata_json, '$.agentVisible', json('false')) where session_id = ?`, e.ids[s])
	model := seen{Agent: true}
	e.message(s, m.ID, "user", m.Ended, model, text(m.Text))
	e.message(s, m.ID+"-said", "assistant", m.Ended, model, text("Your context was compacted."))
	e.message(s, m.ID+"-asked", "user", m.Ended, model, text(e.asked[s]))
}

func (e *encoder) session(s *player.Session) {
	id := fmt.Sprintf("20261122_%d", len(e.ids)+1)
	e.ids[s] = id
	kind, parent := "user", any(nil)
	if s.Parent != nil {
		kind, parent = "sub_agent", e.ids[s.Parent]
		e.children[s.Call] = s
	}
	e.insert("sessions", builder.Object{
		{"id", id}, {"name", s.Title}, {"description", s.Title}, {"session_type", kind}, {"working_dir", "/srv/demo"},
		{"created_at", clock(s.Began)}, {"updated_at", clock(s.Began)}, {"parent_session_id", parent},
		{"extension_data", `{"enabled_extensions.v0":{"envs":{"KEY":"` + Secret + `"}}}`},
		{"user_recipe_values_json", `{"key":"` + Secret + `"}`}, {"recipe_json", `{"key":"` + Secret + `"}`}, {"model_config_json", `{"key":"` + Secret + `"}`},
	})
}

func (e *encoder) message(s *player.Session, id, role string, second int64, who seen, parts ...object) {
	content, _ := json.Marshal(parts) // never fails on these
	visible, _ := json.Marshal(who)
	e.insert("messages", builder.Object{
		{"message_id", "msg_" + id}, {"session_id", e.ids[s]}, {"role", role}, {"content_json", string(content)},
		{"created_timestamp", second}, {"timestamp", clock(second)}, {"metadata_json", string(visible)},
	})
}

func clock(second int64) string { return time.Unix(second, 0).UTC().Format(time.DateTime) }

// since are the versions that added columns which are written.
var since = map[string]int{
	"user_recipe_values_json": 2, "metadata_json": 3, "name": 4, "session_type": 5, "model_config_json": 6, "message_id": 7, "parent_session_id": 15,
}

// insert writes what of a row the version has a column for.
func (e *encoder) insert(table string, row builder.Object) {
	var known builder.Object
	for _, m := range row {
		if e.version >= since[m[0].(string)] {
			known = append(known, m)
		}
	}
	e.db.Insert(table, known)
}
