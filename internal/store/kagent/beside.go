package kagent

import (
	"context"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// beside is what other tables than those of sessions and events say of a session.
type beside struct {
	tasks   map[string][]task // by the session that they name
	lost    []session.Fault   // rows of tasks that cannot be read
	stamps  map[stamp]string
	threads map[sessionKey]string // why the session cannot be parted
	users   map[string][]string   // who have sessions with an id
	counted bool                  // no session is missing in users
	agents  map[string]bool       // by the names that their tools have
}

// sessionKey is the key of a session. The user is "" where a table does not say.
type sessionKey struct{ user, id string }

// prepare reads it anew.
func (r *reader) prepare(ctx context.Context, db table.Reader) error {
	for _, read := range []func(context.Context, table.Reader) error{r.readSessions, r.readThreads, r.readTasks} {
		if err := read(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// readSessions finds which users have sessions with an id, of which there can be several:
// a context id that two of them used makes a session for each (c1). And it finds which
// agents there are. Their ids are those of Kubernetes, or identifiers made of these, which
// are the names of tools (b3).
func (r *reader) readSessions(ctx context.Context, db table.Reader) error {
	r.users, r.agents = map[string][]string{}, nil
	asIdentifier := strings.NewReplacer("-", "_", "/", namespace)
	agent := func(id string) {
		if id == "" {
			return
		}
		if r.agents == nil {
			r.agents = map[string]bool{}
		}
		r.agents[asIdentifier.Replace(id)] = true
	}
	lost, err := r.glance(ctx, db, tableSessions, []string{"id", "user_id", "agent_id"}, func(row []string) {
		r.users[row[0]] = append(r.users[row[0]], row[1])
		agent(row[2])
	})
	r.counted = lost == nil
	if err == nil && r.Has("agent", "id") {
		_, err = r.glance(ctx, db, "agent", []string{"id"}, func(row []string) { agent(row[0]) })
	}
	for _, users := range r.users {
		slices.Sort(users)
	}
	return err
}

// others are the other users who have a session with the id.
func (r *reader) others(key sessionKey) []string {
	if len(r.users[key.id]) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.users[key.id]), func(user string) bool { return user == key.user })
}

// named is the id by which a session is yielded: see package eventlog.
func (r *reader) named(user, id string) string {
	if users := r.users[id]; len(users) > 1 && slices.Contains(users, user) {
		return user + "/" + id
	}
	return id
}

// memories are the tables in which other frameworks keep what an agent knows by the
// session as a whole (a2).
var memories = []struct{ table, framework string }{
	{"lg_checkpoint", "LangGraph"}, {"lg_checkpoint_write", "LangGraph"}, {"crewai_flow_state", "CrewAI"}, {"crewai_agent_memory", "CrewAI"},
}

func (r *reader) readThreads(ctx context.Context, db table.Reader) error {
	r.threads = map[sessionKey]string{}
	for _, m := range memories {
		if !r.Has(m.table, "thread_id") {
			continue
		}
		columns := []string{"thread_id"}
		if r.Has(m.table, "user_id") {
			columns = append(columns, "user_id")
		}
		why := m.framework + " keeps the state of its agent for the session as a whole (table " + m.table + ")"
		_, err := r.glance(ctx, db, m.table, columns, func(row []string) {
			r.threads[sessionKey{strings.Join(row[1:], ""), row[0]}] = why
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inseparable is the reason why a session cannot be parted, as far as tables tell.
func (r *reader) inseparable(key sessionKey) string {
	if why := r.threads[key]; why != "" {
		return why
	}
	return r.threads[sessionKey{"", key.id}]
}

// glance hands some columns of a table to fn as texts, NULL as "". A damaged page of it
// ends them, which is told in any case; lost is not nil then.
func (r *reader) glance(ctx context.Context, db table.Reader, of string, columns []string, fn func(row []string)) (lost []session.Fault, err error) {
	return db.Scan(ctx, table.Selection{Table: of, Columns: columns, Glance: true}, func(_ table.Place, values []table.Value) error {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = textOf(v)
		}
		fn(row)
		return nil
	})
}
