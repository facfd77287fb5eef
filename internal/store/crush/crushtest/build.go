// Package crushtest writes databases as Crush does, for tests.
package crushtest

import (
	_ "embed"
	"encoding/json"
	"strconv"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
)

//go:embed schema.sql
var script string

// Generations are the migrations, each with what it adds.
var Generations = []int64{20250424200609, 20250515105448, 20250624000000, 20250627000000, 20250810000000, 20250812000000, 20260127000000}

// Newest is the newest generation.
var Newest = Generations[len(Generations)-1]

// Build writes a database of a generation with what programs stored, each list of writes
// as far as its runtime came.
func Build(path string, generation int64, programs ...[]player.Write) error {
	sections := builder.ParseSections("\n" + script)
	var schema []string
	for _, g := range Generations {
		if g <= generation {
			schema = append(schema, builder.StatementsOf(sections, strconv.FormatInt(g, 10))...)
			schema = append(schema, "INSERT INTO goose_db_version (version_id, is_applied, tstamp) VALUES ("+strconv.FormatInt(g, 10)+", 1, '2026-11-22 13:45:42')")
		}
	}
	return builder.Create(path, schema, func(db *builder.DB) {
		for _, writes := range programs {
			encode(db, generation, writes)
		}
		for _, trigger := range builder.StatementsOf(sections, "triggers") { // they would read the clock
			db.Exec(trigger)
		}
	})
}

// encode writes what a program stored: each message as it was last, in the order in which
// they began, which is that of the rows.
func encode(db *builder.DB, generation int64, writes []player.Write) {
	last, count, summary := map[string]*player.Message{}, map[*player.Session]int{}, map[*player.Session]string{}
	for _, w := range writes {
		m := w.Message
		if m == nil {
			continue
		}
		if last[m.ID] == nil {
			count[w.Session]++
		}
		last[m.ID] = m
		if m.Summary && m.Reason != "" {
			summary[w.Session] = m.ID
		}
	}
	for _, w := range writes {
		if w.Message == nil {
			row := session(w.Session, count[w.Session])
			if generation >= Generations[1] {
				row = append(row, builder.Member{"summary_message_id", builder.OrNil(summary[w.Session])})
			}
			db.Insert("sessions", row)
		} else if m := last[w.Message.ID]; m != nil {
			db.Insert("messages", message(w.Session, m, generation))
			delete(last, m.ID)
		}
	}
}

// ID is the id of a session, which that of a child has in Crush from its call.
func ID(s *player.Session) string {
	if s.Parent == nil {
		return s.ID
	}
	return s.Message + "$$" + s.Call
}

func session(s *player.Session, messages int) builder.Object {
	var parent any
	if s.Parent != nil {
		parent = ID(s.Parent)
	}
	return builder.Object{
		{"id", ID(s)}, {"parent_session_id", parent}, {"title", s.Title}, {"message_count", messages},
		{"created_at", s.Began}, {"updated_at", s.Began},
	}
}

func message(s *player.Session, m *player.Message, generation int64) builder.Object {
	row := builder.Object{{"id", m.ID}, {"session_id", ID(s)}, {"role", m.Role}, {"parts", Parts(m)}, {"created_at", m.Began}, {"updated_at", max(m.Began, m.Ended)}}
	model, provider := "", any(nil)
	if m.Role == "assistant" {
		model, provider = "fake", "fake"
		row = append(row, builder.Member{"finished_at", builder.OrNil(m.Ended)})
	}
	row = append(row, builder.Member{"model", model})
	if generation >= Generations[3] {
		row = append(row, builder.Member{"provider", provider})
	}
	if generation >= Generations[4] {
		summary := 0
		if m.Summary {
			summary = 1
		}
		row = append(row, builder.Member{"is_summary_message", summary})
	}
	return row
}

// Parts are the parts of a message, as Crush spells them.
func Parts(m *player.Message) string {
	type object = map[string]any
	list := []object{}
	add := func(kind string, data any) { list = append(list, object{"type": kind, "data": data}) }
	if m.Role == "tool" {
		add("tool_result", struct {
			ID       string `json:"tool_call_id"`
			Name     string `json:"name"`
			Content  string `json:"content"`
			Data     string `json:"data"`
			MIME     string `json:"mime_type"`
			Metadata string `json:"metadata"`
			IsError  bool   `json:"is_error"`
		}{m.Answered, m.Tool, m.Text, "", "", "", m.Failed})
	} else {
		if m.Thoughts != "" {
			add("reasoning", object{"thinking": m.Thoughts, "signature": "", "responses_data": nil, "started_at": m.Began})
		}
		if m.Text != "" {
			add("text", object{"text": m.Text})
		}
	}
	for _, c := range m.Calls {
		add("tool_call", struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Input    string `json:"input"`
			Server   bool   `json:"provider_executed"`
			Finished bool   `json:"finished"`
		}{c.ID, c.Tool, c.Args, false, c.Complete})
	}
	switch {
	case m.Role != "assistant":
		add("finish", object{"reason": "stop", "time": 0})
	case m.Error != "":
		add("finish", object{"reason": m.Reason, "time": m.Ended, "message": "Bad Request", "details": m.Error})
	case m.Reason != "":
		add("finish", object{"reason": m.Reason, "time": m.Ended})
	}
	text, _ := json.Marshal(list) // never fails on these
	return string(text)
}
