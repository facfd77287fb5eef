package session

import "time"

// TableRuns is the table name that a Ref carries when it means the record of a run,
// whatever the store calls that table.
const TableRuns = "runs"

// Run is what a store keeps of one request that a session served, beside the items
// that came of it: an A2A task (kagent).
type Run struct {
	ID         string
	State      string // as it is stored: "completed"
	Open       bool   // it has not ended, or waits for somebody
	Invocation string // that of its items, "" when the record does not say
	Asked      Digest // of the request's text, 0 when there is none
	Answered   Digest // of the text that came back, 0 when there is none
	Began      time.Time
	Ended      time.Time // of its last change
}

// RunRef addresses the record of the run at index i.
func (s *Session) RunRef(i int) Ref {
	return Ref{Session: s.ID, Table: TableRuns, Key: s.Runs[i].ID}
}
