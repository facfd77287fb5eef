package session

// Place is an item of a session by its index in stored order, as people see it. It
// needs no tree, so that reports, plans and receipts can hold it.
type Place struct {
	Session string `json:"session"`
	Item    int    `json:"item"` // position, from 0 in stored order; -1 for the session as a whole
}

// ItemPlace is the place of the item at index i.
func (s *Session) ItemPlace(i int) Place { return Place{Session: s.ID, Item: i} }

// TableSessions is the table name that a Ref carries when it means a session's
// own record, whatever the store calls that table.
const TableSessions = "sessions"

// TableLines is the table of a Ref to a line of a stream that is no item and no
// session; its key is the line number, from 1.
const TableLines = "lines"

// TableBackups is the table of a Ref to a record that only a backup of the runtime holds.
const TableBackups = "backups"

// Ref addresses one record of a store: what a finding points at and what an
// edit changes. The store itself is known from the context.
type Ref struct {
	Session string `json:"session,omitempty"`
	Table   string `json:"table"`
	Key     string `json:"key"`
	Pointer string `json:"pointer,omitempty"` // JSON pointer below the record
}

// Row is the record without the session: "session_items/17". It stays the same
// when the record moves to another session or position.
func (r Ref) Row() string {
	row := r.Table + "/" + r.Key
	if r.Pointer != "" {
		row += "#" + r.Pointer
	}
	return row
}
