package agenttest

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
