package machine

import (
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/watch"
)

const watchSchema = "sessctl.watch/1"

// watchBegin is the first line.
type watchBegin struct {
	Type string `json:"type"`
	head
	Stores []string `json:"stores"` // their paths
}

// watchFinding is a line for a finding that is new, worse or gone. Those below --severity are left out.
type watchFinding struct {
	Time time.Time `json:"time"` // when that was seen
	jsonFinding
}

// watchStore is a line for what happened to a store, or to a session as a whole: watching after the first
// check, whose findings follow; in-use, left (in use no longer), unreadable, and readable again.
type watchStore struct {
	Type       string             `json:"type"`
	Time       time.Time          `json:"time"`                 // when that was seen
	Store      string             `json:"store"`                // path of the store
	Session    string             `json:"session,omitzero"`     // of in-use and left: the session; left out where it is the store
	Kind       string             `json:"kind,omitzero"`        // of watching: the kind of store
	Writer     string             `json:"writer,omitzero"`      // of watching: whether the runtime has the store open: live, dead or unknown
	WriterName string             `json:"writer_name,omitzero"` // of in-use: who has it open; left out where nobody is known
	Sessions   *watchVerdicts     `json:"sessions,omitzero"`    // of watching: sessions, without sub-sessions, by what becomes of their next request
	Findings   *render.Severities `json:"findings,omitzero"`    // of watching
	Message    string             `json:"message,omitzero"`     // of unreadable: why
	Next       string             `json:"next,omitzero"`        // what to do now; left out when there is nothing to be done
	ExitCode   int                `json:"exit_code,omitzero"`   // with which check would end
}

// watchVerdicts count conversations by what becomes of their next request.
type watchVerdicts struct {
	Resumes  int `json:"resumes"`
	Loses    int `json:"loses"`    // it is accepted, but the model loses something
	Doubtful int `json:"doubtful"` // some models may refuse it
	Waits    int `json:"waits"`    // it is refused until a call has its result
	Refused  int `json:"refused"`
	Unloaded int `json:"unloaded"` // the runtime fails to load the session
}

// WatchLines prints an object for each event, and one before them.
func WatchLines(o render.WatchOptions, stores []string) (func(watch.Event) error, error) {
	w := o.Screen.Plain()
	return func(e watch.Event) error {
		if o.Hides(e.Finding) {
			return nil
		}
		if e.Finding != nil {
			line := watchFinding{e.Time.UTC(), findingObject(e.Path, e.Finding)}
			line.Type = string(e.Kind)
			return writeLine(w, line)
		}
		line := watchStore{Type: string(e.Kind), Time: e.Time.UTC(), Store: e.Path, Session: e.Session}
		switch {
		case e.Kind == watch.Begun:
			n := e.Tally.Sessions
			line.Kind, line.Writer, line.Findings = e.Store.Kind, e.Store.Writer.String(), &render.Severities{}
			line.Sessions = &watchVerdicts{n[check.Resumes], n[check.Loses], n[check.Doubtful], n[check.Waits], n[check.Refused], n[check.Unloaded]}
			line.Findings.Add(e.Tally.Findings)
		case e.Kind == watch.InUse && e.Session == "":
			line.WriterName = e.Store.WriterName
		case e.Kind == watch.Unreadable:
			u := o.Unread(e.Path, e.Err)
			line.Message, line.Next, line.ExitCode = u.Message, u.Next, u.ExitCode
		}
		return writeLine(w, line)
	}, writeLine(w, watchBegin{"begin", head{watchSchema, o.Tool}, stores})
}
