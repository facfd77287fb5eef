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
	Type   string      `json:"type"`
	Schema string      `json:"schema"`
	Tool   render.Tool `json:"tool"`
	Stores []string    `json:"stores"`
}

// watchFinding is a line for a finding that is new, worse or gone.
type watchFinding struct {
	Time time.Time `json:"time"`
	jsonFinding
}

// watchStore is a line for what happened to a store, or to a session as a whole.
type watchStore struct {
	Type       string             `json:"type"`
	Time       time.Time          `json:"time"`
	Store      string             `json:"store"`
	Session    string             `json:"session,omitzero"`
	Kind       string             `json:"kind,omitzero"`
	Writer     string             `json:"writer,omitzero"`
	WriterName string             `json:"writer_name,omitzero"`
	Sessions   *watchVerdicts     `json:"sessions,omitzero"`
	Findings   *render.Severities `json:"findings,omitzero"`
	Message    string             `json:"message,omitzero"`
	Next       string             `json:"next,omitzero"`
	ExitCode   int                `json:"exit_code,omitzero"`
}

// watchVerdicts count conversations by what becomes of their next request.
type watchVerdicts struct {
	Resumes  int `json:"resumes"`
	Loses    int `json:"loses"`
	Doubtful int `json:"doubtful"`
	Waits    int `json:"waits"`
	Refused  int `json:"refused"`
	Unloaded int `json:"unloaded"`
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
	}, writeLine(w, watchBegin{"begin", watchSchema, o.Tool, stores})
}
