package openaiagents_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// damages are what can be wrong with a database, each at one random row, or one of a kind.
var damages = []string{
	"delete from agent_messages where rowid = %[1]d",
	"delete from agent_messages where rowid = %[2]d",
	"delete from agent_messages where rowid = %[3]d",
	"delete from agent_messages where rowid > %[1]d",
	"delete from agent_sessions where rowid = %[1]d %% 3",
	"insert into agent_messages (session_id, message_data, created_at) select session_id, message_data, created_at from agent_messages where rowid = %[3]d",
	`insert into agent_messages (session_id, message_data, created_at) select session_id, replace(message_data, '"output":"', '"output":"again '), created_at from agent_messages where rowid = %[3]d`,
	"insert into agent_messages (session_id, message_data, created_at) select session_id, message_data, created_at from agent_messages where rowid = %[1]d",
	"update agent_messages set session_id = 'nobody' where rowid = %[1]d",
	"update agent_messages set session_id = (select max(session_id) from agent_sessions) where rowid = %[1]d",
	"update agent_messages set message_data = substr(message_data, 1, length(message_data) / 2) where rowid = %[1]d",
	"update agent_messages set message_data = 'null' where rowid = %[1]d",
	"update agent_messages set message_data = '[]' where rowid = %[1]d",
	`update agent_messages set message_data = '{"__enc__":1,"v":1,"kid":"k","payload":"x"}' where rowid = %[1]d`,
	"update agent_messages set message_data = cast(x'7b22ff22' as text) where rowid = %[1]d",
	`update agent_messages set message_data = replace(message_data, '"call_id":"', '"call_id":"same","odd":"') where rowid = %[2]d`,
	`update agent_messages set message_data = replace(message_data, '"call_id":"', '"call_id":"same","odd":"') where rowid = %[3]d`,
	`update agent_messages set message_data = replace(message_data, '"arguments":"{', '"arguments":"{{') where rowid = %[2]d`,
	`update agent_messages set message_data = replace(message_data, '"function_call', '"custom_tool_call') where rowid in (%[2]d, %[3]d)`,
	`update agent_messages set message_data = replace(message_data, '"type":"function_call"', '"type":"computer_call"') where rowid = %[2]d`,
	`update agent_messages set message_data = replace(message_data, '"role":"user"', '"role":"nobody"') where rowid = %[1]d`,
	`update agent_messages set message_data = replace(message_data, '"content":"', '"content":"\u0000') where rowid = %[1]d`,
	"update agent_messages set created_at = '2026-11-22 09:00:01' where rowid = %[1]d",
	"update agent_messages set created_at = null where rowid = %[1]d",
}

// branchDamages are those of message_structure.
var branchDamages = []string{
	"delete from message_structure where rowid = %[1]d",
	"delete from message_structure where rowid > %[1]d",
	"delete from message_structure where branch_id <> 'main'",
	"update message_structure set message_id = 99999 where rowid = %[1]d",
	"update message_structure set message_id = %[1]d where rowid = %[2]d",
	"update message_structure set sequence_number = %[1]d where rowid = %[2]d",
	"update message_structure set branch_id = 'other' where rowid = %[1]d",
	"update message_structure set session_id = 'nobody' where rowid = %[1]d",
}

// damaged builds a file of programs whose runtime may have been killed, and damages it.
func damaged(t *rapid.T, path string) form {
	seed, kill := rapid.Uint64Range(1, 1e6).Draw(t, "seed"), rapid.Uint64Range(0, 400).Draw(t, "kill")
	of := rapid.SampledFrom(forms).Draw(t, "form")
	if err := build(path, of, player.PlayUntil(seed, kill), player.Play(player.RandomProgram(seed+1, 1), seed+1), player.PlayUntil(seed+2, 0)); err != nil {
		t.Fatal(err)
	}
	list := damages
	if of == advanced {
		list = slices.Concat(damages, branchDamages)
	}
	rng := rand.New(rand.NewPCG(seed, kill))
	pick := func(kind string) string {
		rows := storetest.Query(t, path, "select id from agent_messages where message_data like '%"+kind+"%'")
		if len(rows) == 0 {
			return "0"
		}
		return rows[rng.IntN(len(rows))]
	}
	var statements []string
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		row := make([]any, 3)
		for i, kind := range []string{"", `"function_call"`, `"function_call_output"`} {
			var n int
			_, _ = fmt.Sscan(pick(kind), &n)
			row[i] = n
		}
		text := rapid.SampledFrom(list).Draw(t, "damage")
		statements = append(statements, fmt.Sprintf(text, row...))
	}
	for i, s := range statements { // values that a statement has no place for
		statements[i], _, _ = strings.Cut(s, "%!(EXTRA")
	}
	storetest.Change(t, path, statements...)
	return of
}

// says is what a row says, without what a repair may change.
func says(data string) string {
	var item map[string]any
	if json.Unmarshal([]byte(data), &item) != nil {
		return data
	}
	for _, name := range []string{"call_id", "arguments", "id"} {
		delete(item, name)
	}
	text, _ := json.Marshal(item) // never fails on what was parsed
	return strings.ReplaceAll(string(text), `\\u0000`, `\u0000`)
}

// queries list what is sent of each session, and of each branch, in its order.
func queries(of form) []string {
	switch of {
	case custom:
		return []string{"select session_id || char(1) || 'chats' || char(1) || message_data from \"chat rows\" order by session_id, id", "select session_id || char(1) || char(1) || message_data from agent_messages order by session_id, id"}
	case advanced:
		return []string{
			"select m.session_id || char(1) || s.branch_id || char(1) || m.message_data from message_structure s join agent_messages m on m.id = s.message_id and m.session_id = s.session_id group by m.session_id, s.branch_id, m.id order by m.session_id, s.branch_id, min(s.sequence_number)",
			"select m.session_id || char(1) || 'all' || char(1) || m.message_data from agent_messages m where m.id not in (select message_id from message_structure s where s.session_id = m.session_id) order by m.session_id, m.id",
		}
	case sqlalchemy:
		return []string{"select session_id || char(1) || char(1) || message_data from agent_messages order by session_id, created_at, id"}
	}
	return []string{"select session_id || char(1) || char(1) || message_data from agent_messages order by session_id, id"}
}

// TestNothingIsLost: every row that was stored is, in the order in which it was, on the branches that it
// was on, and says the same, though a result may stand elsewhere; or the receipt has it. What is new
// are placeholders.
func TestNothingIsLost(t *testing.T) {
	repairtest.NothingIsLost(t, func(t *rapid.T, path string) func(*repair.Receipt) {
		of := damaged(t, path)
		list := func() map[string][]string {
			rows := map[string][]string{}
			for _, line := range storetest.Query(t, path, queries(of)...) {
				f := strings.SplitN(line, "\x01", 3)
				on := f[0] + " " + f[1]
				if strings.Contains(f[2], "_output\"") { // a result by itself
					on += says(f[2])
				}
				rows[on] = append(rows[on], f[2])
			}
			return rows
		}
		before, known := list(), map[string]bool{}
		for on, rows := range before {
			for _, row := range rows {
				session, _, _ := strings.Cut(on, " ")
				known[session+row] = true
			}
		}
		return func(receipt *repair.Receipt) {
			var kept strings.Builder
			for _, b := range receipt.Batches {
				for _, k := range b.Kept {
					kept.WriteString(k.Text)
				}
			}
			now := list()
			for on, rows := range before {
				session, _, _ := strings.Cut(on, " ")
				left := slices.DeleteFunc(now[on], func(row string) bool { // on one more branch
					return of == advanced && known[session+row] && !slices.Contains(rows, row)
				})
				for _, row := range rows {
					text, _ := json.Marshal(row) // never fails on a text
					switch {
					case len(left) > 0 && says(left[0]) == says(row):
						left = left[1:]
					case !strings.Contains(kept.String(), strings.Trim(string(text), `"`)) && !strings.Contains(kept.String(), row) && !strings.Contains(row, "\xff"):
						t.Fatalf("%s: %s is gone", on, row)
					}
				}
				if delete(now, on); len(left) > 0 {
					t.Fatalf("%s: %s is new", on, left[0])
				}
			}
			for on, rows := range now {
				session, _, _ := strings.Cut(on, " ")
				if before[session+" all"+says(rows[0])] != nil || slices.Contains(before[session+" all"], rows[0]) {
					t.Fatalf("%s: %s had no branch", on, rows[0])
				}
				if !strings.Contains(rows[0], "[sessctl]") && (of != advanced || !known[session+rows[0]]) {
					t.Fatalf("%s: %s is new", on, rows[0])
				}
			}
		}
	})
}
