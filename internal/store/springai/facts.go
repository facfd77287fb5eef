package springai

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// The generations of the schema, by the first release that has it.
const (
	sequenced = "0.6.0"
	byTime    = "0.1.0"
)

// facts is what is known of a database with this schema.
func (sc *schema) facts() session.Store {
	f := session.Store{
		Kind: kindName, Title: kindTitle,
		Reader: session.Reader{BranchModel: "path", RootSummaries: true, LikeFilter: true},
		Keys:   session.Keys{Renumbers: sc.given},
		Requests: session.Requests{
			// SessionMemoryAdvisor.java, since 0.1.0.
			Adapts: map[string]string{"SC304": "moves system messages to the start of the request"},
		},
		Generation: sequenced, Versions: "written by Spring AI Session 0.6.0 or later",
		Condition: session.Condition{ReadOnly: sc.readOnly()},
	}
	if !sc.sequenced() {
		f.Generation, f.Versions = byTime, "written by Spring AI Session before 0.6.0"
		f.Advice = []string{"Spring AI Session before 0.6.0 orders events by their times, so that a summary comes after what it should stand before, " +
			"and its compaction deletes what it sums up: upgrade it, with the two columns of its migration guide."}
	}
	if sc.later.Found != "" {
		f.Faults = append(f.Faults, sc.later.Fault(session.Ref{Table: sc.events.name, Key: "*"}))
	}
	return f
}

// known are the columns of the tables.
func (sc *schema) known() []eventlog.Known {
	needed := slices.Concat(eventColumns, newerColumns)
	if len(sc.events.missing(newerColumns)) == len(newerColumns) { // before 0.6.0
		needed = eventColumns
	}
	return []eventlog.Known{{Table: sc.sessions.name, Needed: sessionColumns}, {Table: sc.events.name, Needed: needed}}
}

// readOnly says why a database of this schema is not repaired in place, "" if it
// is.
func (sc *schema) readOnly() string {
	switch {
	case !sc.sequenced():
		return "its events are ordered by their times, so that none could be put in its place without changing when it was said: " +
			"add the columns seq and archived as the migration guide of Spring AI Session 0.6.0 says, and repair it then"
	case sc.later.ReadOnly() != "":
		return sc.later.ReadOnly()
	case sc.unique:
		return "each seq must be unique, but nothing gives out new ones: make seq the table's INTEGER PRIMARY KEY, as a generated column is elsewhere"
	}
	return ""
}
