// Package opencodetest writes databases as opencode does, for tests.
package opencodetest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
)

//go:embed schema.sql
var script string

type object = builder.Object

// Build writes a database with what programs stored, each list of writes as far as its
// runtime came.
func Build(path string, programs ...[]player.Write) error {
	return builder.Create(path, builder.StatementsOf(builder.ParseSections("\n"+script), "tables"), func(db *builder.DB) {
		e := encoder{db: db}
		for _, writes := range programs {
			e.encode(writes)
		}
	})
}

// encoder writes rows. Ids rise with each row, as opencode's do within a process.
type encoder struct {
	db   *builder.DB
	rows int64

	last     map[string]*player.Message // each message as it was last, by its id
	answers  map[string]*player.Message // what tools answered, by the ids of messages and calls
	answered map[string]int64           // when, by the same
	children map[string]*player.Session // by the same
	asked    map[string]string          // by session, the last message of its user
}

// id is the next id of a kind.
func (e *encoder) id(kind string) string {
	e.rows++
	return fmt.Sprintf("%s_%012xaaaaaaaaaaaaaa", kind, 0x203700000000+e.rows)
}

// ID is the id of a session.
func ID(s *player.Session) string { return "ses_" + strings.ReplaceAll(s.ID, "-", "")[:26] }

// encode writes what a program stored. Two rows that follow each other may be of one
// millisecond: then their ids tell their order.
func (e *encoder) encode(writes []player.Write) {
	e.last, e.answers, e.children, e.asked = map[string]*player.Message{}, map[string]*player.Message{}, map[string]*player.Session{}, map[string]string{}
	e.answered = map[string]int64{}
	caller := map[string]string{} // by session and call
	began := func(n int) int64 { return writes[n].Message.Began*1000 + int64(n/2%400) }
	for n, w := range writes {
		m, at := w.Message, ID(w.Session)+" "
		switch {
		case m == nil && w.Session.Parent != nil:
			e.children[w.Session.Message+" "+w.Session.Call] = w.Session
		case m == nil:
		case m.Role == "tool":
			key := caller[at+m.Answered] + " " + m.Answered
			e.answers[key], e.answered[key] = m, began(n)
		default:
			e.last[m.ID] = m
			for _, c := range m.Calls {
				caller[at+c.ID] = m.ID
			}
		}
	}
	for n, w := range writes {
		switch {
		case w.Message == nil:
			e.session(w.Session)
		case e.last[w.Message.ID] != nil:
			e.message(w.Session, e.last[w.Message.ID], began(n))
			delete(e.last, w.Message.ID)
		}
	}
}

func (e *encoder) session(s *player.Session) {
	title, agent, parent := s.Title, "build", any(nil)
	if s.Parent != nil {
		title, agent, parent = "explore (@general subagent)", "general", ID(s.Parent)
	}
	e.db.Insert("session", object{
		{"id", ID(s)}, {"project_id", "global"}, {"parent_id", parent}, {"slug", "quiet-river"}, {"directory", "/srv/demo"}, {"title", title},
		{"version", "1.18.33"}, {"agent", agent}, {"model", `{"id":"fake","providerID":"fake","variant":"default"}`},
		{"time_created", s.Began * 1000}, {"time_updated", s.Began * 1000},
	})
}

// message writes a message with its parts. A summary has a request for it before.
func (e *encoder) message(s *player.Session, m *player.Message, began int64) {
	if m.Summary {
		e.asked[s.ID] = e.row(s, began, began, user(began))
		e.part(s, e.asked[s.ID], began, began+7, object{{"type", "compaction"}, {"auto", false}})
	}
	ended := max(began, m.Ended*1000)
	if m.Role == "user" {
		e.asked[s.ID] = e.row(s, began, began, user(began))
		e.part(s, e.asked[s.ID], began, began+7, object{{"type", "text"}, {"text", m.Text}})
		return
	}
	e.parts(s, m, e.row(s, began, ended, e.answer(s, m, began, ended)), began)
}

func (e *encoder) row(s *player.Session, began, updated int64, data object) string {
	id := e.id("msg")
	e.db.Insert("message", object{{"id", id}, {"session_id", ID(s)}, {"time_created", began}, {"time_updated", updated}, {"data", builder.Style{}.Text(data)}})
	return id
}

func (e *encoder) part(s *player.Session, message string, at, updated int64, data object) {
	e.db.Insert("part", object{
		{"id", e.id("prt")}, {"message_id", message}, {"session_id", ID(s)}, {"time_created", at}, {"time_updated", updated}, {"data", builder.Style{}.Text(data)},
	})
}

func user(began int64) object {
	return object{
		{"role", "user"}, {"time", object{{"created", began}}}, {"agent", "build"}, {"model", object{{"providerID", "fake"}, {"modelID", "fake"}}},
		{"summary", object{{"diffs", builder.List{}}}},
	}
}

// answer is the data of a message of the assistant.
func (e *encoder) answer(s *player.Session, m *player.Message, began, ended int64) object {
	agent, time := "build", object{{"created", began}}
	switch {
	case m.Summary:
		agent = "compaction"
	case s.Parent != nil:
		agent = "general"
	}
	if m.Reason != "" {
		time = append(time, builder.Member{"completed", ended})
	}
	data := object{
		{"parentID", e.asked[s.ID]}, {"role", "assistant"}, {"mode", agent}, {"agent", agent}, {"path", object{{"cwd", "/srv/demo"}, {"root", "/srv/demo"}}},
		{"cost", 0}, {"tokens", object{{"input", 0}, {"output", 0}, {"reasoning", 0}, {"cache", object{{"read", 0}, {"write", 0}}}}},
		{"modelID", "fake"}, {"providerID", "fake"}, {"time", time},
	}
	if m.Summary {
		data = append(data, builder.Member{"summary", true})
	}
	switch {
	case m.Error != "":
		return append(data, builder.Member{"error", object{{"name", "APIError"}, {"data", object{{"message", m.Error}, {"statusCode", 400}, {"isRetryable", false}}}}})
	case m.Reason == "tool_use":
		return append(data, builder.Member{"finish", "tool-calls"})
	case m.Reason != "":
		return append(data, builder.Member{"finish", "stop"})
	}
	return data
}

// parts writes the parts of an answer. A text is stored empty until it ends.
func (e *encoder) parts(s *player.Session, m *player.Message, id string, at int64) {
	if m.Error != "" || m.Thoughts+m.Text == "" && len(m.Calls) == 0 && m.Reason == "" {
		return
	}
	e.part(s, id, at, at+7, object{{"type", "step-start"}, {"snapshot", "d82e93b5"}})
	text := func(kind, text string, ended bool) {
		time := object{{"start", at}}
		if ended {
			time = append(time, builder.Member{"end", at + 3})
		} else {
			text = ""
		}
		e.part(s, id, at, at+7, object{{"type", kind}, {"text", text}, {"time", time}})
	}
	ended := m.Reason != "" || len(m.Calls) > 0
	if m.Thoughts != "" {
		text("reasoning", m.Thoughts, ended || m.Text != "")
	}
	if m.Text != "" {
		text("text", m.Text, ended)
	}
	for _, c := range m.Calls {
		end := max(at, e.answered[m.ID+" "+c.ID]) + 5
		tool, state := e.call(s, m, &c, at, end)
		e.part(s, id, at, end+2, object{{"type", "tool"}, {"tool", tool}, {"callID", c.ID}, {"state", state}})
	}
	if m.Reason != "" {
		e.part(s, id, at, at+7, object{{"type", "step-finish"}, {"reason", "stop"}, {"cost", 0}})
	}
}

// call is the tool of a call, and how far it came.
func (e *encoder) call(s *player.Session, m *player.Message, c *player.Asked, at, end int64) (tool string, state object) {
	key := m.ID + " " + c.ID
	answer, child := e.answers[key], e.children[key]
	tool, title := c.Tool, "run it"
	input, metadata := any(json.RawMessage(c.Args)), object{{"output", ""}}
	if tool == "agent" {
		var asked struct{ Prompt string }
		_ = json.Unmarshal([]byte(c.Args), &asked)
		tool, title, metadata = "task", "explore", object{}
		input = object{{"description", "explore"}, {"prompt", asked.Prompt}, {"subagent_type", "general"}}
	}
	if child != nil {
		metadata = object{{"parentSessionId", ID(s)}, {"sessionId", ID(child)}, {"model", object{{"modelID", "fake"}, {"providerID", "fake"}}}}
	}
	switch {
	case !c.Complete:
		return tool, object{{"status", "pending"}, {"input", object{}}, {"raw", ""}}
	case answer == nil:
		return tool, object{{"title", title}, {"metadata", metadata}, {"status", "running"}, {"input", input}, {"time", object{{"start", at}}}}
	case answer.Failed:
		return tool, object{{"status", "error"}, {"input", input}, {"error", answer.Text}, {"time", object{{"start", at}, {"end", end}}}}
	}
	output := answer.Text
	if child != nil {
		output = "<task id=\"" + ID(child) + "\" state=\"completed\">\n<task_result>\n" + output + "\n</task_result>\n</task>"
	}
	return tool, object{
		{"status", "completed"}, {"input", input}, {"output", output}, {"metadata", metadata}, {"title", title}, {"time", object{{"start", at}, {"end", end}}},
	}
}
