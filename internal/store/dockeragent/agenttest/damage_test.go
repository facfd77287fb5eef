package agenttest

import (
	"errors"
	"strings"
	"testing"
)

// whole is a database without any damage: a root that calls a tool, delegates,
// is compacted twice and goes on, and its child.
type whole struct {
	*DB
	root, child           string
	user, caller, result  int64 // of the first call
	reference, answer     int64 // of the delegation
	first, second         int64 // summaries
	laterCaller, laterRow int64 // the second call and its result
}

func newWhole(t *testing.T, generation int) *whole {
	t.Helper()
	w := &whole{DB: create(t, generation)}
	root := w.Root(SessionRow{Title: "whole"})
	w.root = root.ID
	w.user = root.User("go").Row
	w.caller = root.Assistant("root", Message{Content: "looking", ToolCalls: []ToolCall{CallTool("t1", "shell", `{"cmd":"ls"}`)}}).Row
	w.result = root.Result("root", "t1", "a b").Row
	root.Assistant("root", Message{ToolCalls: []ToolCall{Transfer("d1", "worker", "count", "")}})
	child := root.Child(SessionRow{Title: childTitle})
	w.child = child.ID
	child.Prologue("count", "")
	child.Assistant("worker", Message{Content: "two"})
	w.reference = root.SubSession(child).Row
	w.answer = root.Result("root", "d1", "two").Row
	root.Assistant("root", Message{Content: "there are two"})
	w.first = root.Summary(Summary{Text: "there are two", Usage: &Usage{InputTokens: 5}}).Row
	root.User("again")
	w.laterCaller = root.Assistant("root", Message{ToolCalls: []ToolCall{CallTool("t2", "shell", `{}`)}}).Row
	w.laterRow = root.Result("root", "t2", "a").Row
	w.second = root.Summary(Summary{Text: "now one", FirstKept: 8}).Row
	root.Assistant("root", Message{Content: "bye"})
	w.Sync()
	return w
}

const (
	rolesSQL = `SELECT group_concat(COALESCE(message_json->>'tool_call_id', message_json->>'role', item_type), ' ')
		FROM (SELECT * FROM session_items WHERE session_id = (SELECT id FROM sessions WHERE title = 'whole') ORDER BY position, id)`
	wholeRoles = "user assistant t1 assistant subsession d1 assistant summary user assistant t2 summary assistant|\n"
)

// damageTests look at what each damage did: in a whole database the query has
// another answer.
var damageTests = []struct {
	name       string
	generation int
	args       func(*whole) []any
	query      string
	want       string
}{
	{"DropResult", 18, func(w *whole) []any { return []any{w.result} }, rolesSQL,
		strings.Replace(wholeRoles, " t1", "", 1)},
	{"DuplicateResult", 18, func(w *whole) []any { return []any{w.result} }, rolesSQL,
		strings.Replace(wholeRoles, "t1", "t1 t1", 1)},
	{"ConflictingResult", 18, func(w *whole) []any { return []any{w.result, "c d"} },
		"SELECT message_json->>'content' FROM session_items WHERE message_json->>'tool_call_id' = 't1' ORDER BY position", "a b|\nc d|\n"},
	{"DelayResult", 18, func(w *whole) []any { return []any{w.result, 2} }, rolesSQL,
		strings.Replace(wholeRoles, "t1 assistant subsession", "assistant subsession t1", 1)},
	{"EarlyResult", 18, func(w *whole) []any { return []any{w.result} }, rolesSQL,
		strings.Replace(wholeRoles, "assistant t1", "t1 assistant", 1)},
	{"OrphanResult", 18, func(w *whole) []any { return []any{w.result, "t9"} }, rolesSQL,
		strings.Replace(wholeRoles, "t1", "t1 t9", 1)},
	{"LoseCall", 18, func(w *whole) []any { return []any{w.caller} },
		"SELECT COUNT(*) FROM session_items WHERE json_array_length(message_json, '$.tool_calls') > 0", "2|\n"},
	{"ResultAgentMismatch", 18, func(w *whole) []any { return []any{w.answer, "worker"} },
		"SELECT agent_name FROM session_items WHERE message_json->>'tool_call_id' = 'd1'", "worker|\n"},
	{"ConcurrentUser", 18, func(w *whole) []any { return []any{w.result, "hello?"} }, rolesSQL,
		strings.Replace(wholeRoles, "t1", "user t1", 1)},

	{"UndecodableMessage", 18, func(w *whole) []any { return []any{w.user} },
		"SELECT COUNT(*) FROM session_items WHERE NOT json_valid(message_json)", "1|\n"},
	{"BlankMessage", 18, func(w *whole) []any { return []any{w.caller} },
		"SELECT json_array_length(message_json, '$.tool_calls'), hex(message_json->>'content') FROM session_items WHERE position = 1 ORDER BY id LIMIT 1", "<nil>|200A|\n"},
	{"UnknownRole", 18, func(w *whole) []any { return []any{w.user, "critic"} }, rolesSQL,
		strings.Replace(wholeRoles, "user", "critic", 1)},
	{"BadArguments", 18, func(w *whole) []any { return []any{w.caller} },
		"SELECT json_valid(message_json->>'$.tool_calls[0].function.arguments') FROM session_items WHERE position = 1 ORDER BY id LIMIT 1", "0|\n"},
	{"EmptyCallID", 18, func(w *whole) []any { return []any{w.caller} },
		"SELECT message_json->>'$.tool_calls[0].id' FROM session_items WHERE position = 1 ORDER BY id LIMIT 1", "<nil>|\n"},
	{"TimeGoesBack", 18, func(w *whole) []any { return []any{w.result} },
		"SELECT message_json->>'created_at' FROM session_items WHERE message_json->>'tool_call_id' = 't1'", "2026-02-14T08:00:02+01:00|\n"},
	{"MisplacedSystem", 18, func(w *whole) []any { return []any{w.result} }, rolesSQL,
		strings.Replace(wholeRoles, "t1", "t1 system", 1)},
	{"StrayPromptCopy", 18, func(w *whole) []any { return []any{w.result} }, rolesSQL,
		strings.Replace(wholeRoles, "t1", "t1 user", 1)},

	{"DanglingReference", 18, func(w *whole) []any { return []any{w.reference} },
		`SELECT "table", parent FROM pragma_foreign_key_check`, "session_items|sessions|\n"},
	{"UnreferencedChild", 18, func(w *whole) []any { return []any{w.reference} }, rolesSQL,
		strings.Replace(wholeRoles, " subsession", "", 1)},
	{"DropSessionRow", 18, func(w *whole) []any { return []any{w.child} },
		"SELECT COUNT(*) FROM pragma_foreign_key_check", "4|\n"},
	{"DeleteSession", 18, func(w *whole) []any { return []any{w.child} },
		"SELECT (SELECT COUNT(*) FROM sessions), (SELECT COUNT(*) FROM session_items), (SELECT COUNT(*) FROM pragma_foreign_key_check)", "1|13|0|\n"},
	{"WrongParent", 18, func(w *whole) []any { return []any{w.child, "nobody"} },
		"SELECT parent_id FROM sessions WHERE title != 'whole'", "nobody|\n"},
	{"ParentCycle", 18, func(w *whole) []any { return []any{w.child, w.root} },
		"SELECT COUNT(*) FROM sessions a JOIN sessions b ON a.parent_id = b.id AND b.parent_id = a.id", "2|\n"},
	{"ReferenceCycle", 18, func(w *whole) []any { return []any{w.child, w.root} },
		"SELECT COUNT(*) FROM session_items a JOIN session_items b ON a.subsession_id = b.session_id AND b.subsession_id = a.session_id", "2|\n"},
	{"TwoReferrers", 18, func(w *whole) []any { return []any{w.reference, w.root} },
		"SELECT COUNT(*), COUNT(DISTINCT subsession_id) FROM session_items WHERE item_type = 'subsession'", "2|1|\n"},
	{"StrayChildRoot", 18, func(w *whole) []any { return []any{w.reference} },
		"SELECT title FROM sessions WHERE parent_id IS NULL ORDER BY title", "Transferred task|\nwhole|\n"},
	{"EmptyChild", 18, func(w *whole) []any { return []any{w.child} },
		"SELECT COUNT(*) FROM session_items", "13|\n"},
	{"MissingPrologue", 18, func(w *whole) []any { return []any{w.child} },
		"SELECT position, message_json->>'role' FROM session_items JOIN sessions s ON session_id = s.id WHERE title != 'whole'", "0|assistant|\n"},
	{"NegativePosition", 18, func(w *whole) []any { return []any{w.result} },
		"SELECT MIN(position) FROM session_items", "-3|\n"},
	{"DoubledPosition", 18, func(w *whole) []any { return []any{w.result} },
		"SELECT COUNT(*) FROM session_items GROUP BY session_id, position HAVING COUNT(*) > 1", "2|\n"},
	{"UnknownItemType", 18, func(w *whole) []any { return []any{w.user, "hologram"} },
		"SELECT COUNT(*) FROM session_items WHERE item_type = 'hologram'", "1|\n"},

	{"NullTitle", 18, func(w *whole) []any { return []any{w.child} },
		"SELECT COUNT(*) FROM sessions WHERE title IS NULL", "1|\n"},
	{"BadJSON", Latest, func(w *whole) []any { return []any{w.root} },
		"SELECT COUNT(*) FROM sessions WHERE NOT json_valid(attributes)", "1|\n"},
	{"BadCreatedAt", 18, func(w *whole) []any { return []any{w.root, "1771056000000"} },
		"SELECT created_at FROM sessions WHERE title = 'whole'", "1771056000000|\n"},
	{"WrongTotals", 18, func(w *whole) []any { return []any{w.root} },
		"SELECT cost FROM sessions WHERE title = 'whole'", "12.5|\n"},
	{"StaleInstructionContext", Latest, func(w *whole) []any { return []any{w.root} },
		"SELECT NULLIF(instruction_context, '')->>'$.updates[1].position' FROM sessions WHERE title = 'whole'", "16|\n"},

	{"EmptySummary", 18, func(w *whole) []any { return []any{w.first} },
		"SELECT COUNT(*) FROM session_items WHERE summary_text = ''", "1|\n"},
	{"BadUsage", Latest, func(w *whole) []any { return []any{w.first} },
		"SELECT COUNT(*) FROM session_items WHERE usage_json != '' AND NOT json_valid(usage_json)", "1|\n"},
	{"BoundaryInsidePair", Latest, func(w *whole) []any { return []any{w.first} },
		"SELECT first_kept_entry FROM session_items WHERE summary_text = 'there are two'", "5|\n"},
	{"BoundaryOutOfRange", Latest, func(w *whole) []any { return []any{w.first} },
		"SELECT first_kept_entry FROM session_items WHERE summary_text = 'there are two'", "18|\n"},
	{"BoundaryInHistory", Latest, func(w *whole) []any { return []any{w.second} },
		"SELECT first_kept_entry FROM session_items WHERE summary_text = 'now one'", "6|\n"},

	{"LegacyColumnFuller", 18, func(w *whole) []any { return []any{w.root, 3} },
		"SELECT json_array_length(messages), (SELECT COUNT(*) FROM session_items WHERE session_id = s.id) FROM sessions s WHERE title = 'whole'", "13|10|\n"},
	{"NewerMigration", 18, func(*whole) []any { return []any{} },
		"SELECT name FROM migrations ORDER BY id DESC LIMIT 1", "118_from_the_future|\n"},
	{"OrphanMedia", Latest, func(*whole) []any { return []any{} },
		"SELECT rel_path, root_kind FROM generated_media_manifest", "chart.png|workspace|\n"},
}

func TestDamage(t *testing.T) {
	for _, tt := range damageTests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWhole(t, tt.generation)
			if before := query(t, w.SQL, tt.query); before == tt.want {
				t.Fatal("the query cannot tell the damage")
			}
			if err := w.Damage(tt.name, tt.args(w)...); err != nil {
				t.Fatal(err)
			}
			if got := query(t, w.SQL, tt.query); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			closed(t, w.DB)
		})
	}
}

// TestDamageKeepsTheRest: positions stay dense, and the messages column follows.
func TestDamageKeepsTheRest(t *testing.T) {
	w := newWhole(t, 18)
	err := errors.Join(w.Damage("DropResult", w.result), w.Damage("DelayResult", w.laterRow, 1), w.Damage("OrphanResult", w.caller, "t9"))
	if err != nil {
		t.Fatal(err)
	}
	got := query(t, w.SQL, "SELECT COUNT(*), MIN(position), MAX(position), COUNT(DISTINCT position) FROM session_items WHERE session_id = ?", w.root)
	if want := "13|0|12|13|\n"; got != want {
		t.Errorf("positions %s, want %s", got, want)
	}
	got = query(t, w.SQL, `SELECT e.value->>'$.message.message.tool_call_id' FROM sessions, json_each(messages) e
		WHERE title = 'whole' AND e.value->>'$.message.message.role' = 'tool' ORDER BY e.key`)
	if want := "t9|\nd1|\nt2|\n"; got != want {
		t.Errorf("results in the messages column %s, want %s", got, want)
	}
	closed(t, w.DB)
}

// TestDamageThatDoesNotFit: the error names the damage, and nothing changed.
func TestDamageThatDoesNotFit(t *testing.T) {
	tests := []struct {
		name, damage string
		generation   int
		row          func(*whole) int64
		want         string
	}{
		{"no result", "DropResult", 18, func(w *whole) int64 { return w.user }, "DropResult: no row to change"},
		{"no message", "DuplicateResult", 18, func(w *whole) int64 { return w.reference }, "DuplicateResult: no row to change"},
		{"no call", "BadArguments", 18, func(w *whole) int64 { return w.user }, "BadArguments: no row to change"},
		{"no reference", "DanglingReference", 18, func(w *whole) int64 { return w.user }, "DanglingReference: no row to change"},
		{"no place", "BoundaryInHistory", Latest, func(w *whole) int64 { return w.first }, "BoundaryInHistory: no row to change"},
		{"too old", "BadUsage", 18, func(w *whole) int64 { return w.first }, "BadUsage: UPDATE session_items SET usage_json"},
		{"unknown", "Flood", 18, func(w *whole) int64 { return w.first }, "no damage is called Flood"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWhole(t, tt.generation)
			err := w.Damage(tt.damage, tt.row(w))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if got := query(t, w.SQL, rolesSQL); got != wholeRoles {
				t.Errorf("items %s, want %s", got, wholeRoles)
			}
			closed(t, w.DB)
		})
	}
}
