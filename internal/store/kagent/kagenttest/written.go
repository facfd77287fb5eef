package kagenttest

import "slices"

// Written is the truth about a database: what Build wrote before Program.After.
type Written struct {
	Sessions []Session // in the order in which they began
	Calls    []Worked  // of workers, in the order in which they were made
}

// Session is a row of session.
type Session struct {
	ID, User, Agent string
	Delegated       bool // an agent's call started it
	Tasks           []string
	Events          []string // in the order of their times
}

// Worked is a call of a worker and everything that came of it.
type Worked struct {
	User        string
	Parent      string // the caller's session
	ParentTask  string
	Call        string
	Agent       string
	CallEvent   string   // the event that makes the call
	Responses   []string // the events that answer it
	Child       string   // the worker's session, "" when the worker was never reached
	Named       bool     // a response names Child
	Task        string   // the worker's
	Invocations []string // the worker's: two when a runtime begins another one after an approval
	Marker      string   // the event with the headers of the request, where there is one
	Events      []string // the worker's, without Marker
	Open        bool     // it waits for somebody
}

// Roots are the sessions that users began.
func (w *Written) Roots() []Session {
	return slices.DeleteFunc(slices.Clone(w.Sessions), func(s Session) bool { return s.Delegated })
}
