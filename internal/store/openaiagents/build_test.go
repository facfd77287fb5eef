package openaiagents_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/player"
)

// form is which class of the SDK wrote a file.
type form string

const (
	plain      form = "SQLiteSession"
	custom     form = "SQLiteSession with tables of other names, beside the usual ones"
	advanced   form = "AdvancedSQLiteSession"
	sqlalchemy form = "SQLAlchemySession"
)

var forms = []form{plain, custom, advanced, sqlalchemy}

const structure = `CREATE TABLE message_structure (
	id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_id INTEGER NOT NULL, branch_id TEXT NOT NULL DEFAULT 'main',
	message_type TEXT NOT NULL, sequence_number INTEGER NOT NULL, user_turn_number INTEGER, branch_turn_number INTEGER, tool_name TEXT, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
	FOREIGN KEY (session_id) REFERENCES agent_sessions(session_id) ON DELETE CASCADE, FOREIGN KEY (message_id) REFERENCES agent_messages(id) ON DELETE CASCADE)`

// schemaOf are the tables that a class makes.
func schemaOf(of form) (schema []string) {
	pair := func(sessions, messages, columns string) {
		schema = append(schema, fmt.Sprintf(`CREATE TABLE %s (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)`, sessions),
			fmt.Sprintf(`CREATE TABLE %s (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
				FOREIGN KEY (session_id) REFERENCES %s (session_id) ON DELETE CASCADE)`, messages, sessions),
			fmt.Sprintf(`CREATE INDEX idx_%s ON %s (session_id, %s)`, messages, messages, columns))
	}
	columns := "id"
	if of == sqlalchemy {
		columns = "created_at"
	}
	if pair("agent_sessions", "agent_messages", columns); of == custom {
		pair("chats", "chat rows", columns)
		schema[len(schema)-2] = `CREATE TABLE "chat rows" (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (session_id) REFERENCES chats (session_id))`
		schema = schema[:len(schema)-1]
	}
	if of == advanced {
		schema = append(schema, structure)
	}
	return schema
}

// build writes a file with what programs said: a turn of the model with its results when they are all
// there. What a sub-agent says is stored nowhere.
func build(path string, of form, programs ...[]player.Write) error {
	return builder.Create(path, schemaOf(of), func(db *builder.DB) {
		e := encoder{db: db, form: of, now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), answers: map[string]*player.Message{}, turns: map[string]int64{}}
		for n, writes := range programs {
			e.branch, e.second = "main", n%2 == 1
			for k, w := range writes {
				if w.Session.Parent == nil {
					if e.fork(w, uint64(n), k); e.stops {
						break
					}
				}
				e.write(w)
			}
			e.stops = false
		}
	})
}

type encoder struct {
	db      *builder.DB
	form    form
	now     time.Time
	answers map[string]*player.Message // by call
	turns   map[string]int64           // by session and branch
	branch  string
	second  bool // the tables of other names are written
	stops   bool
}

type object = map[string]any

// fork begins a branch in the middle of a program, as create_branch_from_turn does.
func (e *encoder) fork(w player.Write, seed uint64, k int) {
	rng := rand.New(rand.NewPCG(seed, uint64(k)))
	turn := e.turns[w.Session.ID+e.branch]
	if e.form != advanced || w.Message == nil || w.Message.Role != "user" || turn == 0 || rng.IntN(2) == 0 {
		return
	}
	name, from := fmt.Sprint("branch_", k), rng.Int64N(turn)+1
	e.db.Exec(`insert into message_structure (session_id, message_id, branch_id, message_type, sequence_number, user_turn_number, branch_turn_number, tool_name, created_at)
		select session_id, message_id, ?, message_type, (select max(sequence_number) from message_structure m where m.session_id = s.session_id) + row_number() over (order by sequence_number), user_turn_number, branch_turn_number, tool_name, created_at
		from message_structure s where session_id = ? and branch_id = ? and user_turn_number <= ?`, name, w.Session.ID, e.branch, from)
	e.turns[w.Session.ID+name] = from
	if rng.IntN(3) > 0 {
		e.branch = name
	}
}

func (e *encoder) write(w player.Write) {
	s, m := w.Session, w.Message
	e.now = e.now.Add(170 * time.Millisecond)
	switch {
	case m != nil && m.Role == "tool":
		e.answers[m.Answered] = m
	case s.Parent != nil:
	case m == nil:
		sessions := "agent_sessions"
		if e.form == custom && e.second {
			sessions = "chats"
		}
		e.db.Insert(sessions, builder.Object{{"session_id", s.ID}, {"created_at", e.stamp()}, {"updated_at", e.stamp()}})
	case m.Role == "user":
		e.turns[s.ID+e.branch]++
		e.add(s.ID, object{"role": "user", "content": m.Text})
	case m.Summary || m.Error != "" || m.Reason == "":
	default:
		e.step(s.ID, m)
	}
}

// step stores what the model answered, and the results of its calls.
func (e *encoder) step(session string, m *player.Message) {
	if m.Thoughts != "" && (m.Text != "" || len(m.Calls) > 0) {
		e.add(session, object{"type": "reasoning", "id": "rs_" + m.ID, "summary": []object{{"type": "summary_text", "text": m.Thoughts}}, "encrypted_content": "gAAA" + m.ID})
	}
	if m.Text != "" {
		e.add(session, object{"type": "message", "role": "assistant", "id": "msg_" + m.ID, "status": "completed", "content": []object{{"type": "output_text", "text": m.Text, "annotations": []any{}}}})
	}
	for _, c := range m.Calls {
		e.add(session, object{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Tool, "arguments": c.Args, "status": "completed"})
	}
	for _, c := range m.Calls {
		e.add(session, object{"type": "function_call_output", "call_id": c.ID, "output": e.answers[c.ID].Text})
	}
}

func (e *encoder) stamp() string {
	if e.form == sqlalchemy {
		return e.now.Format("2006-01-02 15:04:05.000000")
	}
	return e.now.Format(time.DateTime)
}

// add stores an item, and names it on the branch.
func (e *encoder) add(session string, item object) {
	text, _ := json.Marshal(item) // never fails on these
	messages := "agent_messages"
	if e.form == custom && e.second {
		messages = `"chat rows"`
	}
	id := e.db.Exec("insert into "+messages+" (session_id, message_data, created_at) values (?, ?, ?)", session, string(text), e.stamp())
	if e.form != advanced {
		return
	}
	kind := item["type"]
	if role := item["role"]; role != nil {
		kind = role
	}
	turn := e.turns[session+e.branch]
	e.db.Exec(`insert into message_structure (session_id, message_id, branch_id, message_type, sequence_number, user_turn_number, branch_turn_number, tool_name, created_at)
		values (?, ?, ?, ?, coalesce((select max(sequence_number) from message_structure where session_id = ?), 0) + 1, ?, ?, ?, ?)`,
		session, id, e.branch, kind, session, turn, turn, item["name"], e.stamp())
}
