package agenttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everything writes one item of each kind that a generation has.
func everything(db *DB) {
	root := db.Root(SessionRow{
		ID: "root", Title: "all <kinds>", ToolsApproved: true, InputTokens: 7, OutputTokens: 3, Cost: 0.25,
		WorkingDir: "/src", InstructionContext: `{"epoch_start":0}`, Attributes: `{"team":"a"}`, Origin: "api",
	})
	root.User("a < b & c")
	root.Assistant("root", Message{
		Content: "thinking", ReasoningContent: "hmm", Model: "x/y", Cost: 0.5,
		ToolCalls: []ToolCall{CallTool("c1", "shell", `{"cmd":"ls"}`), Transfer("c2", "Coding agent", "count", "a number")},
		Usage:     &Usage{InputTokens: 5, OutputTokens: 6, CachedInputTokens: 7, CachedWriteTokens: 8, ReasoningTokens: 9},
	})
	root.FailedResult("root", "c1", "no such file")
	child := root.Child(SessionRow{ID: "child", Title: childTitle})
	child.Prologue("count", "a number")
	child.Assistant("Coding agent", Message{Content: "two"})
	root.SubSession(child)
	root.Result("root", "c2", "two")
	root.Summary(Summary{Text: "two files", FirstKept: 1, Cost: 0.125, Model: "x/z", Usage: &Usage{InputTokens: 1}})
	root.Placeholder("root", "And then", "")
}

const everythingShape = `session "all <kinds>" child=false
  message agent="" user "a < b & c"
  message agent="root" assistant "thinking" reasoning="hmm" call[c1 shell {"cmd":"ls"}] call[c2 transfer_task {"agent":"Coding agent","expected_output":"a number","task":"count"}]
  message agent="root" tool "no such file" result[c1 error=true]
  subsession
    message agent="" system "You are a member of a team of agents. Your goal is to complete the following task:\n\n<task>\ncount\n</task>\n\n<expected_output>\na number\n</expected_output>"
    message agent="" user "Please proceed." implicit
    message agent="Coding agent" assistant "two"
  message agent="root" tool "two" result[c2 error=false]
  summary "two files"
  message agent="root" assistant "And then"
`

func TestBuild(t *testing.T) {
	for generation := withItems; generation <= Latest; generation++ {
		db := create(t, generation)
		everything(db)
		closed(t, db)
		if diff := cmp.Diff(everythingShape, shapeOf(t, db.Path)); diff != "" {
			t.Errorf("generation %d: want (-), got (+):\n%s", generation, diff)
		}
	}
}

// TestColumns reads what the rows hold besides the items.
func TestColumns(t *testing.T) {
	tests := []struct {
		generation  int
		query, want string
	}{
		{17, "SELECT starred, cost, working_dir, split_diff_view FROM sessions WHERE id = 'root'", "0|0.25|/src|<nil>|\n"},
		{18, "SELECT send_user_message, parent_id, permissions, agent_model_overrides, custom_models_used, split_diff_view FROM sessions WHERE id = 'child'", "0|root||{}|[]|<nil>|\n"},
		{19, "SELECT message_json FROM session_items WHERE position = 0 AND session_id = 'root'", `{"role":"user","content":"a \u003c b \u0026 c","created_at":"2026-02-14T09:00:00+01:00"}` + "|\n"},
		{19, "SELECT message_json->'usage', message_json->'cost' FROM session_items WHERE position = 1 AND session_id = 'root'", `{"input_tokens":5,"output_tokens":6,"cached_input_tokens":7,"cached_write_tokens":8,"reasoning_tokens":9}|0.5|` + "\n"},
		{20, "SELECT message_json FROM session_items WHERE item_type = 'message' ORDER BY position DESC LIMIT 1", `{"role":"assistant","content":"And then"}` + "|\n"},
		{21, "SELECT summary_text, first_kept_entry FROM session_items WHERE item_type = 'summary'", "two files|1|\n"},
		{25, "SELECT cost, model, usage_json->>'input_tokens' FROM session_items WHERE item_type = 'summary'", "0.125|x/z|1|\n"},
		{29, "SELECT send_user_message, thinking, instruction_context, safety_policy, attributes, origin FROM sessions WHERE id = 'root'", `1|0|{"epoch_start":0}||{"team":"a"}|api|` + "\n"},
		{29, "SELECT attributes, origin FROM sessions WHERE id = 'child'", "{}|run|\n"},
	}
	for _, tt := range tests {
		db := create(t, tt.generation)
		everything(db)
		closed(t, db)
		if got := query(t, reopen(t, db.Path), tt.query); got != tt.want {
			t.Errorf("generation %d: %s\n%s, want %s", tt.generation, tt.query, got, tt.want)
		}
	}
}

// TestMessagesColumn: the column holds the same conversation at every
// generation that has it; before generation 14 nothing else does.
func TestMessagesColumn(t *testing.T) {
	const walk = `SELECT j.fullkey, j.value FROM sessions s, json_tree(s.messages) j
		WHERE s.id = 'root' AND j.key IN ('agentName', 'role', 'tool_call_id', 'summary', 'implicit', 'title') AND j.type != 'object' ORDER BY j.id`
	var want string
	for generation := range withoutLegacy {
		db := create(t, generation)
		everything(db)
		closed(t, db)
		file := reopen(t, db.Path)
		got := query(t, file, walk)
		if generation == 0 {
			want = got
			for _, part := range []string{`$[3]."sub_session".messages[1].message.implicit|1|`, "$[5].summary|two files|", "$[6].message.message.role|assistant|"} {
				if !strings.Contains(got, part) {
					t.Errorf("%s is missing in\n%s", part, got)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("generation %d differs from generation 0:\n%s", generation, diff)
		}
		if sessions, wantSessions := query(t, file, "SELECT COUNT(*) FROM sessions"), fmt.Sprintf("%d|\n", 1+generation/withItems); sessions != wantSessions {
			t.Errorf("generation %d: %s sessions, want %s", generation, sessions, wantSessions)
		}
		keys := query(t, file, `SELECT group_concat(k.key) FROM sessions s, json_each(s.messages, '$[3].sub_session') k WHERE s.id = 'root'`)
		if strings.Contains(keys, "starred") != (generation >= 9) || strings.Contains(keys, "thinking") != (generation >= 13) {
			t.Errorf("generation %d: keys of the sub-session %s", generation, keys)
		}
	}
}

// TestFixedBeforeItems: a program at a generation without items is one JSON
// text, with the children inside.
func TestFixedBeforeItems(t *testing.T) {
	db := create(t, 13)
	if _, err := WriteFixed(db, corpusPrograms["nested"]); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteLeaky(db, corpusPrograms["nested"]); err == nil || !strings.Contains(err.Error(), "generation 14 or later") {
		t.Errorf("leaks without items: error %v", err)
	}
	closed(t, db)
	got := query(t, reopen(t, db.Path), `SELECT messages->>'$[2].sub_session.messages[3].sub_session.messages[4].message.message.content', COUNT(*) FROM sessions`)
	if want := "grand done|1|\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
