package kagent

import (
	"fmt"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// session makes a session of its row.
func (r *reader) session(row columns) *session.Session {
	s := &session.Session{
		ID: textOf(row("id")), User: textOf(row("user_id")),
		Agent: textOf(row("agent_id")), Title: textOf(row("name")),
		Tick: time.Microsecond, Delegated: textOf(row("source")) == "agent", Deleted: row("deleted_at") != nil,
	}
	for _, c := range []struct {
		name string
		into *time.Time
	}{{"created_at", &s.Created}, {"updated_at", &s.Updated}, {"deleted_at", new(time.Time)}} {
		t, wrong := parseTime(row(c.name))
		if *c.into = t; wrong != "" {
			s.Faults = append(s.Faults, session.Fault{Kind: session.BadTime, Field: c.name, Detail: wrong})
		}
	}
	key := sessionKey{s.User, s.ID}
	s.Inseparable = r.inseparable(key)
	s.Runs = r.runsOf(key)
	if others := r.others(key); len(others) > 0 {
		s.Faults = append(s.Faults, session.Fault{Kind: session.SharedID, Detail: sharedWith(others)})
	}
	return s
}

// sharedWith names a few of the users.
func sharedWith(users []string) string {
	const most = 3
	more := ""
	if n := len(users) - most; n > 0 {
		users, more = users[:most], fmt.Sprintf(" and %d more", n)
	}
	quoted := make([]string, len(users))
	for i, user := range users {
		quoted[i] = fmt.Sprintf("%.60q", user)
	}
	return "the id is also that of a session of " + strings.Join(quoted, ", ") + more
}
