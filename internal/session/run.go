package session

import (
	"slices"
	"time"
)

// TableRuns is the table name that a Ref carries when it means the record of a run,
// whatever the store calls that table.
const TableRuns = "runs"

// Run is what a store keeps of one request that a session served, beside the items
// that came of it: an A2A task (kagent).
type Run struct {
	ID    string
	State string // as it is stored: "completed"
	Open  bool   // it has not ended, or waits for somebody
	// Ends is the state that says that it was given up, as the store spells it, of a run
	// that waits for a person's answer; "" for any other.
	Ends       string
	Invocation string // that of its items, "" when the record does not say
	Asked      Digest // of the request's text, 0 when there is none
	Answered   Digest // of the text that came back, 0 when there is none
	Began      time.Time
	Ended      time.Time // of its last change
}

// InvocationOf is that of a run: the one that its record names, or else the last one that
// began with the text of its request; "" for none.
func (s *Session) InvocationOf(run *Run) string {
	if run.Invocation != "" || run.Asked == 0 {
		return run.Invocation
	}
	for i := range slices.Backward(s.Items) {
		if it := &s.Items[i]; it.Role == User && it.Text == run.Asked && it.OnWire() {
			return it.Invocation()
		}
	}
	return ""
}

// RunRef addresses the record of the run at index i.
func (s *Session) RunRef(i int) Ref {
	return Ref{Session: s.ID, Table: TableRuns, Key: s.Runs[i].ID}
}
