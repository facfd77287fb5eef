package agenttest

import (
	"encoding/json"
	"fmt"
)

// Damage is one thing that can be wrong with a database. Every damage is made
// by a function that is named after what it breaks.
type Damage struct {
	name  string
	apply func(*DB)

	enforceKeys   bool // foreign keys act, as they do for the runtime
	columnIsOlder bool // the messages column is from before the damage
	onFiles       bool // it copies the file, so it cannot run in one transaction
}

// Damage applies damages to a database of generation 14 or later, one after
// another. The messages column follows the damaged items, as it does in the
// runtime when it next writes to the session. A damage that does not fit the
// database changes nothing, and is the error. It must not be part of a Batch.
func (db *DB) Damage(damages ...Damage) error {
	for _, d := range damages {
		db.Sync()
		if db.err != nil {
			return db.err
		}
		if err := db.damage(&d); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

func (db *DB) damage(d *Damage) error {
	if !d.enforceKeys {
		db.exec("PRAGMA foreign_keys = OFF")
	}
	if d.onFiles {
		d.apply(db)
	} else {
		db.Batch(func() {
			d.apply(db)
			if !d.columnIsOlder {
				db.reloadAllLegacy()
			}
		})
	}
	err := db.err
	db.err = nil // the transaction was rolled back
	db.exec("PRAGMA foreign_keys = ON")
	return err
}

// reloadAllLegacy writes the messages column of all sessions that have one.
func (db *DB) reloadAllLegacy() {
	if db.Generation >= withoutLegacy {
		return
	}
	for _, id := range list[string](db, "SELECT id FROM sessions WHERE messages IS NOT NULL ORDER BY rowid") {
		db.reloadLegacy(id)
	}
}

// needs fails unless the generation is at least the given one.
func (db *DB) needs(generation int, what string) {
	if db.Generation < generation {
		db.fail(fmt.Errorf("generation %d has no %s: create the database with generation %d or later", db.Generation, what, generation))
	}
}

// place is the session and the position of a row.
func (db *DB) place(row int64) (session string, position int64) {
	db.scan([]any{&session, &position}, "SELECT session_id, position FROM session_items WHERE id = ?", row)
	return session, position
}

// shift moves the items of a session from a position on by n places.
func (db *DB) shift(session string, from, n int64) {
	db.exec("UPDATE session_items SET position = position + ? WHERE session_id = ? AND position >= ?", n, session, from)
}

// remove takes a row away as if it had never been written.
func (db *DB) remove(row int64) {
	session, position := db.place(row)
	db.change("DELETE FROM session_items WHERE id = ?", row)
	db.shift(session, position, -1)
}

// move puts a row at another position of its session, counted without it.
func (db *DB) move(row, to int64) {
	session, position := db.place(row)
	db.change("UPDATE session_items SET position = -1 WHERE id = ?", row)
	db.shift(session, position, -1)
	db.shift(session, to, 1)
	db.change("UPDATE session_items SET position = ? WHERE id = ?", to, row)
}

// insertMessage writes a message at a position of a session.
func (db *DB) insertMessage(session string, position int64, agent string, message []byte) {
	db.shift(session, position, 1)
	db.exec(`INSERT INTO session_items (session_id, position, item_type, agent_name, message_json, implicit)
		VALUES (?, ?, 'message', ?, ?, 0)`, session, position, agent, string(message))
}

// message reads the message of a row, and the agent that it names.
func (db *DB) message(row int64) (agent string, m Message) {
	var stored string
	db.scan([]any{&agent, &stored}, "SELECT COALESCE(agent_name, ''), COALESCE(message_json, '') FROM session_items WHERE id = ?", row)
	if db.err == nil {
		if err := json.Unmarshal([]byte(stored), &m); err != nil {
			db.fail(fmt.Errorf("row %d holds no message: %w", row, err))
		}
	}
	return agent, m
}

// edit changes the message of a row.
func (db *DB) edit(row int64, change func(*Message)) {
	_, m := db.message(row)
	change(&m)
	db.setMessage(row, string(encode(m)))
}

func (db *DB) setMessage(row int64, stored string) {
	db.change("UPDATE session_items SET message_json = ? WHERE id = ?", stored, row)
}
