package adk

import (
	"github.com/sessctl/sessctl/internal/session"
)

// session makes a session of its row.
func (g generation) session(row columns) *session.Session {
	s := &session.Session{App: textOf(row("app_name")), User: textOf(row("user_id")), ID: textOf(row("id")), Title: textOf(row("title")), Tick: traitsOf[g].tick}
	var list faults
	for _, c := range []struct {
		name string
		into func(stamp)
	}{
		{"create_time", func(t stamp) { s.Created = t.Time }},
		{"update_time", func(t stamp) { s.Updated = t.Time }},
	} {
		t := stampOf(row(c.name), g.unitOf(row(c.name)))
		c.into(t)
		if t.bad != "" {
			list.add(session.BadTime, c.name, t.bad)
		}
	}
	g.checkState(row("state"), &list)
	s.Faults = list
	return s
}

// checkState reports a state that is no JSON object, which the reader cannot merge
// with those of the application and of the user. adk-go reads NULL as an empty one.
func (g generation) checkState(state any, list *faults) {
	empty := "{}"
	f := session.Fault{Field: "state", Default: &empty}
	data := bytesOf(state)
	switch {
	case state == nil && g.python():
		f.Kind, f.Detail = session.RequiredNull, "The session cannot be loaded."
	case state == nil || g.golang() && (len(data) == 0 || string(data) == "null") || isObject(data):
		return
	default:
		f.Kind, f.Detail = session.BadMetadata, "it is no JSON object, so that the session fails to load"
	}
	*list = append(*list, f)
}
