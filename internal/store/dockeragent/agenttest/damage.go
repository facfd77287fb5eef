package agenttest

import (
	"encoding/json"
	"fmt"
	"os"
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

// SetAsideBackup leaves the database with its present content beside itself
// under the name that the runtime uses when it gives up on one (path.bak), and
// deletes the given sessions from the database itself.
func SetAsideBackup(sessions ...string) Damage {
	return Damage{name: "SetAsideBackup", enforceKeys: true, onFiles: true, apply: func(db *DB) {
		db.exec("PRAGMA wal_checkpoint(TRUNCATE)") // now the file holds everything
		content, err := os.ReadFile(db.Path)
		db.fail(err)
		if db.err == nil {
			db.fail(os.WriteFile(db.Path+".bak", content, 0o600))
		}
		db.Batch(func() {
			for _, id := range sessions {
				db.change("DELETE FROM sessions WHERE id = ?", id)
			}
		})
	}}
}

// LegacyColumnFuller loses the last n items of a session, while the messages
// column still has them. It needs generations 14 to 19.
func LegacyColumnFuller(session string, n int) Damage {
	return Damage{name: "LegacyColumnFuller", columnIsOlder: true, apply: func(db *DB) {
		if db.Generation >= withoutLegacy {
			db.fail(fmt.Errorf("generation %d has no messages column", db.Generation))
		}
		db.change(`DELETE FROM session_items WHERE id IN
			(SELECT id FROM session_items WHERE session_id = ? ORDER BY position DESC LIMIT ?)`, session, n)
	}}
}

// NewerMigration records a migration that nobody knows yet.
func NewerMigration() Damage {
	return sets("NewerMigration", `INSERT INTO migrations SELECT MAX(id) + 100, printf('%03d_from_the_future', MAX(id) + 100),
		'Something new', MAX(applied_at) FROM migrations`)
}

// UnrecordedMigration forgets that a migration ran.
func UnrecordedMigration(id int) Damage {
	return sets("UnrecordedMigration", "DELETE FROM migrations WHERE id = ?", id)
}

// OrphanMedia records a generated file of a session that does not exist. It
// needs generation 28.
func OrphanMedia() Damage {
	return Damage{name: "OrphanMedia", apply: func(db *DB) {
		db.needs(28, "generated_media_manifest")
		db.exec(`INSERT INTO generated_media_manifest (session_id, rel_path, mime_type, created_at)
			VALUES (?, 'chart.png', 'image/png', ?)`, db.newID(), db.tick())
	}}
}

// NullTitle clears the title of a session: the runtime then lists no session at
// all.
func NullTitle(session string) Damage { return NullIn(session, "title") }

// NullIn clears a column of a session.
func NullIn(session, column string) Damage {
	return sets("NullIn", "UPDATE sessions SET "+column+" = NULL WHERE id = ?", session)
}

// BadJSON cuts a JSON column of a session: permissions, agent_model_overrides,
// custom_models_used, instruction_context or attributes.
func BadJSON(session, column string) Damage {
	return sets("BadJSON", "UPDATE sessions SET "+column+` = '{"allow":["sh' WHERE id = ?`, session)
}

// BadCreatedAt gives a session a creation time that need not be one.
func BadCreatedAt(session, createdAt string) Damage {
	return sets("BadCreatedAt", "UPDATE sessions SET created_at = ? WHERE id = ?", createdAt, session)
}

// WrongTotals gives a session token counts and a cost that its messages do not
// add up to.
func WrongTotals(session string) Damage {
	return sets("WrongTotals", "UPDATE sessions SET input_tokens = 987654, output_tokens = 54321, cost = 12.5 WHERE id = ?", session)
}

// InstructionContext is what sessions.instruction_context holds, as far as it
// refers to items.
type InstructionContext struct {
	EpochStart int64               `json:"epoch_start"` // index in the loaded list
	Updates    []InstructionUpdate `json:"updates,omitempty"`
}

// InstructionUpdate is a change of the instructions at an item.
type InstructionUpdate struct {
	Position int64  `json:"position"` // index in the loaded list
	Content  string `json:"content"`
}

// StaleInstructionContext lets a session's instruction context refer to items
// behind the last one. It needs generation 22.
func StaleInstructionContext(session string) Damage {
	return Damage{name: "StaleInstructionContext", apply: func(db *DB) {
		db.needs(22, "instruction_context")
		end := int64(len(db.itemRows(session)))
		db.change("UPDATE sessions SET instruction_context = ? WHERE id = ?", string(encode(InstructionContext{
			EpochStart: end + 7,
			Updates:    []InstructionUpdate{{Position: 1, Content: "Use tabs."}, {Position: end + 3, Content: "Use spaces."}},
		})), session)
	}}
}

// NullReference clears a reference to a child, as the schema does when the
// child is deleted; here the child stays.
func NullReference(row int64) Damage {
	return sets("NullReference", "UPDATE session_items SET subsession_id = NULL WHERE id = ? AND item_type = 'subsession'", row)
}

// DanglingReference makes a reference point to a session that does not exist.
func DanglingReference(row int64) Damage {
	return sets("DanglingReference", "UPDATE session_items SET subsession_id = 'gone-' || subsession_id WHERE id = ? AND item_type = 'subsession'", row)
}

// UnreferencedChild takes the reference to a child away; the child stays whole.
// What a compaction inside a child leaves is a program with Step.Summary.
func UnreferencedChild(row int64) Damage {
	return Damage{name: "UnreferencedChild", apply: func(db *DB) {
		child(db, row)
		db.remove(row)
	}}
}

// DropSessionRow takes the row of a session and leaves its items and everything
// that refers to it.
func DropSessionRow(session string) Damage {
	return sets("DropSessionRow", "DELETE FROM sessions WHERE id = ?", session)
}

// DeleteSession deletes a session as the runtime does: its items and children
// go, references to it become NULL.
func DeleteSession(session string) Damage {
	d := sets("DeleteSession", "DELETE FROM sessions WHERE id = ?", session)
	d.enforceKeys = true
	return d
}

// WrongParent makes a child name a parent that does not refer to it.
func WrongParent(session, parent string) Damage {
	return sets("WrongParent", "UPDATE sessions SET parent_id = ? WHERE id = ?", parent, session)
}

// ParentCycle makes a session the parent of its own ancestor.
func ParentCycle(session, ancestor string) Damage {
	return sets("ParentCycle", "UPDATE sessions SET parent_id = ? WHERE id = ?", session, ancestor)
}

// ReferenceCycle makes a session refer to its own ancestor.
func ReferenceCycle(session, ancestor string) Damage {
	return Damage{name: "ReferenceCycle", apply: func(db *DB) { refer(db, session, ancestor) }}
}

// TwoReferrers lets a second session refer to the child that a row refers to.
func TwoReferrers(row int64, session string) Damage {
	return Damage{name: "TwoReferrers", apply: func(db *DB) { refer(db, session, child(db, row)) }}
}

func refer(db *DB, from, to string) {
	(&Session{ID: from, db: db}).insertRow("subsession", "subsession_id", to)
}

// StrayChildRoot cuts the child that a row refers to off from its parent: it
// looks like a session that a user started.
func StrayChildRoot(row int64) Damage {
	return Damage{name: "StrayChildRoot", apply: func(db *DB) {
		db.change("UPDATE sessions SET parent_id = NULL WHERE id = ?", child(db, row))
		db.remove(row)
	}}
}

// EmptyChild takes all items of a session.
func EmptyChild(session string) Damage {
	return sets("EmptyChild", "DELETE FROM session_items WHERE session_id = ?", session)
}

// MissingPrologue takes the task and the start message of a child.
func MissingPrologue(session string) Damage {
	return Damage{name: "MissingPrologue", apply: func(db *DB) {
		for range 2 {
			var first int64
			db.scan([]any{&first}, "SELECT id FROM session_items WHERE session_id = ? AND position = 0", session)
			db.remove(first)
		}
	}}
}

// child is the session that a row refers to.
func child(db *DB, row int64) string {
	var id string
	db.scan([]any{&id}, "SELECT subsession_id FROM session_items WHERE id = ? AND subsession_id IS NOT NULL", row)
	return id
}

// NegativePosition moves a row before the start of its session.
func NegativePosition(row int64) Damage {
	return sets("NegativePosition", "UPDATE session_items SET position = -1 - position WHERE id = ?", row)
}

// DoubledPosition gives a row the position of the one before it.
func DoubledPosition(row int64) Damage {
	return sets("DoubledPosition", "UPDATE session_items SET position = position - 1 WHERE id = ? AND position > 0", row)
}

// UnknownItemType gives a row a type that readers skip.
func UnknownItemType(row int64, kind string) Damage {
	return sets("UnknownItemType", "UPDATE session_items SET item_type = ? WHERE id = ?", kind, row)
}

// sets is a damage of one statement that must change something.
func sets(name, statement string, args ...any) Damage {
	return Damage{name: name, apply: func(db *DB) { db.change(statement, args...) }}
}
