package repair_test

import (
	"database/sql"
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// storedRow is a row of session_items as a test sees it.
type storedRow struct {
	id, position   int64
	session, kind  string
	agent, message string
	role, callID   string
	calls          []string
	child          string
}

// storedRows reads all items with plain SQL, independent of the adapter.
func storedRows(db *sql.DB) ([]storedRow, error) {
	rows, err := db.Query(`select i.id, i.position, i.session_id, i.item_type, coalesce(i.agent_name, ''), coalesce(i.message_json, ''),
		coalesce(json_extract(i.message_json, '$.role'), ''), coalesce(json_extract(i.message_json, '$.tool_call_id'), ''),
		coalesce((select group_concat(json_extract(value, '$.id'), char(31)) from json_each(i.message_json, '$.tool_calls')), ''),
		coalesce(i.subsession_id, '')
		from session_items i order by i.session_id, i.position, i.id`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []storedRow
	for rows.Next() {
		var r storedRow
		var calls string
		if err := rows.Scan(&r.id, &r.position, &r.session, &r.kind, &r.agent, &r.message, &r.role, &r.callID, &calls, &r.child); err != nil {
			return nil, err
		}
		if calls != "" {
			r.calls = splitUnits(calls)
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

func splitUnits(text string) []string {
	var list []string
	start := 0
	for i := range len(text) {
		if text[i] == 31 {
			list, start = append(list, text[start:i]), i+1
		}
	}
	return append(list, text[start:])
}

// damages are what happens to a database besides leaks. Each does one thing to
// one row of a session, and nothing when no row fits.
var damages = map[string]func(t *rapid.T, list []storedRow) []string{
	// A result is lost, or the message that made the call.
	"drop a result": func(t *rapid.T, list []storedRow) []string {
		return one(t, results(list), func(r storedRow) []string { return []string{remove(r)} })
	},
	"drop a call": func(t *rapid.T, list []storedRow) []string {
		calls := keep(list, func(r storedRow) bool { return len(r.calls) > 0 })
		return one(t, calls, func(r storedRow) []string { return []string{remove(r)} })
	},
	"store a result twice": func(t *rapid.T, list []storedRow) []string {
		return one(t, results(list), func(r storedRow) []string {
			return []string{makeRoom(r.session, r.position), fmt.Sprintf(
				`insert into session_items(session_id, position, item_type, agent_name, message_json, implicit)
				 select session_id, position + 1, item_type, agent_name, message_json, implicit from session_items where id = %d`, r.id)}
		})
	},
	"store another result for the call": func(t *rapid.T, list []storedRow) []string {
		return one(t, results(list), func(r storedRow) []string {
			return []string{makeRoom(r.session, r.position), fmt.Sprintf(
				`insert into session_items(session_id, position, item_type, agent_name, message_json, implicit)
				 select session_id, position + 1, item_type, agent_name, json_set(message_json, '$.content', 'something else'), implicit
				 from session_items where id = %d`, r.id)}
		})
	},
	// A result comes some rows later: behind other turns, or apart from the
	// results of its batch.
	"delay a result": func(t *rapid.T, list []storedRow) []string {
		return one(t, results(list), func(r storedRow) []string { return shift(t, list, r, 1) })
	},
	"hurry a result": func(t *rapid.T, list []storedRow) []string {
		return one(t, results(list), func(r storedRow) []string { return shift(t, list, r, -1) })
	},
	"lose a reference to a child": func(t *rapid.T, list []storedRow) []string {
		refs := keep(list, func(r storedRow) bool { return r.child != "" })
		return one(t, refs, func(r storedRow) []string { return []string{remove(r)} })
	},
	// What a message says is not what a provider takes.
	"use the id of a call again": func(t *rapid.T, list []storedRow) []string {
		calls := keep(list, func(r storedRow) bool { return len(r.calls) > 0 })
		return one(t, calls, func(r storedRow) []string {
			return one(t, keep(calls, func(other storedRow) bool { return other.session == r.session }), func(other storedRow) []string {
				return renameCall(list, r, 0, other.calls[0])
			})
		})
	},
	"give two calls of a turn one id": func(t *rapid.T, list []storedRow) []string {
		batches := keep(list, func(r storedRow) bool { return len(r.calls) > 1 })
		return one(t, batches, func(r storedRow) []string { return renameCall(list, r, 1, r.calls[0]) })
	},
	"break the arguments of a call": func(t *rapid.T, list []storedRow) []string {
		calls := keep(list, func(r storedRow) bool { return len(r.calls) > 0 })
		return one(t, calls, func(r storedRow) []string {
			broken := rapid.SampledFrom([]string{`{"path": `, `[1, "<b>"]`, `"text"`, `\ud83d`, "{\n"}).Draw(t, "arguments")
			return []string{setMember(r, "$.tool_calls[0].function.arguments", broken)}
		})
	},
	"put a blank text beside calls": func(t *rapid.T, list []storedRow) []string {
		calls := keep(list, func(r storedRow) bool { return len(r.calls) > 0 })
		return one(t, calls, func(r storedRow) []string { return []string{setMember(r, "$.content", " \n")} })
	},
	"store an empty message": func(t *rapid.T, list []storedRow) []string {
		return one(t, keep(list, func(r storedRow) bool { return r.kind == "message" }), func(r storedRow) []string {
			return []string{makeRoom(r.session, r.position), fmt.Sprintf(
				`insert into session_items(session_id, position, item_type, agent_name, message_json)
				 select session_id, position + 1, item_type, agent_name, '{"role":"assistant","content":"","x":1}' from session_items where id = %d`, r.id)}
		})
	},
}

// renameCall gives a call of a row another id, and the results of its session
// behind it that have the old one.
func renameCall(list []storedRow, r storedRow, nth int, id string) []string {
	statements := []string{setMember(r, fmt.Sprintf("$.tool_calls[%d].id", nth), id)}
	for _, result := range keep(list, func(other storedRow) bool {
		return other.session == r.session && other.position > r.position && other.callID == r.calls[nth]
	}) {
		statements = append(statements, setMember(result, "$.tool_call_id", id))
	}
	return statements
}

func setMember(r storedRow, path, text string) string {
	return fmt.Sprintf("update session_items set message_json = json_set(message_json, '%s', '%s') where id = %d", path, text, r.id)
}

func one(t *rapid.T, list []storedRow, damage func(storedRow) []string) []string {
	if len(list) == 0 {
		return nil
	}
	return damage(list[rapid.IntRange(0, len(list)-1).Draw(t, "row")])
}

func keep(list []storedRow, fits func(storedRow) bool) []storedRow {
	return slices.DeleteFunc(slices.Clone(list), func(r storedRow) bool { return !fits(r) })
}

func results(list []storedRow) []storedRow {
	return keep(list, func(r storedRow) bool { return r.role == "tool" })
}

func remove(r storedRow) string { return fmt.Sprintf("delete from session_items where id = %d", r.id) }

func makeRoom(session string, behind int64) string {
	return fmt.Sprintf("update session_items set position = position + 1 where session_id = '%s' and position > %d", session, behind)
}

// shift moves a row by one to four places within its session.
func shift(t *rapid.T, list []storedRow, r storedRow, direction int) []string {
	own := keep(list, func(other storedRow) bool { return other.session == r.session })
	at := slices.IndexFunc(own, func(other storedRow) bool { return other.id == r.id })
	to := min(max(at+direction*rapid.IntRange(1, 4).Draw(t, "places"), 1), len(own)-1)
	own = slices.Insert(slices.Delete(own, at, at+1), to, r)
	var statements []string
	for i, row := range own {
		statements = append(statements, fmt.Sprintf("update session_items set position = %d where id = %d", i, row.id))
	}
	return statements
}
