package kagent

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// beside is what other tables than those of sessions and events say of a session.
type beside struct {
	tasks   map[string][]task // by the session that they name
	lost    []sqlite.Range    // rows of tasks that cannot be read
	stamps  map[stamp]string
	threads map[sessionKey]string // why the session cannot be parted
	shared  map[string][]string   // the users who have sessions with an id, where these are several
	agents  map[string]bool       // by the names that their tools have
}

// sessionKey is the key of a session. The user is "" where a table does not say.
type sessionKey struct{ user, id string }

// prepare reads it anew.
func (r *reader) prepare(ctx context.Context, db *sqlite.DB) error {
	for _, read := range []func(context.Context, *sqlite.DB) error{r.readShared, r.readThreads, r.readAgents, r.readTasks} {
		if err := read(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// readShared finds the ids that several users have: a context id that two of them
// used makes a session for each (c1).
func (r *reader) readShared(ctx context.Context, db *sqlite.DB) error {
	r.shared = map[string][]string{}
	return pairs(ctx, db, `select id, user_id from session not indexed where id in (select id from session not indexed group by id having count(*) > 1) order by 1, 2`,
		func(id, user string) { r.shared[id] = append(r.shared[id], user) })
}

// others are the other users who have a session with the id.
func (r *reader) others(key sessionKey) []string {
	return slices.DeleteFunc(slices.Clone(r.shared[key.id]), func(user string) bool { return user == key.user })
}

// named is the id by which a session is yielded: see package eventlog.
func (r *reader) named(user, id string) string {
	if slices.Contains(r.shared[id], user) {
		return user + "/" + id
	}
	return id
}

// memories are the tables in which other frameworks keep what an agent knows by the
// session as a whole (a2).
var memories = []struct{ table, framework string }{
	{"lg_checkpoint", "LangGraph"}, {"lg_checkpoint_write", "LangGraph"}, {"crewai_flow_state", "CrewAI"}, {"crewai_agent_memory", "CrewAI"},
}

func (r *reader) readThreads(ctx context.Context, db *sqlite.DB) error {
	r.threads = map[sessionKey]string{}
	for _, m := range memories {
		if !r.has(m.table, "thread_id") {
			continue
		}
		user := "''"
		if r.has(m.table, "user_id") {
			user = "user_id"
		}
		why := m.framework + " keeps the state of its agent for the session as a whole (table " + m.table + ")"
		err := pairs(ctx, db, "select distinct thread_id, "+user+" from "+sqlite.Quoted(m.table)+" not indexed", func(id, user string) {
			r.threads[sessionKey{user, id}] = why
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

// readAgents reads which agents there are. Their ids are those of Kubernetes, or
// identifiers made of these, which are the names of tools (b3).
func (r *reader) readAgents(ctx context.Context, db *sqlite.DB) error {
	r.agents = nil
	asIdentifier := strings.NewReplacer("-", "_", "/", namespace)
	add := func(id, _ string) {
		if id == "" {
			return
		}
		if r.agents == nil {
			r.agents = map[string]bool{}
		}
		r.agents[asIdentifier.Replace(id)] = true
	}
	if err := pairs(ctx, db, "select distinct agent_id, '' from session not indexed", add); err != nil || !r.has("agent", "id") {
		return err
	}
	return pairs(ctx, db, "select id, '' from agent not indexed", add)
}

// pairs hands the rows of a query for two texts to fn, NULL as "". A damaged page of a
// table ends them, which is told in any case; indexes are left aside, because damage of
// one is told with --deep only.
func pairs(ctx context.Context, db *sqlite.DB, query string, fn func(a, b string)) (err error) {
	rows, err := db.Query(ctx, query)
	if err != nil {
		_, err = sqlite.Readable(err)
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var a, b sql.NullString
		if err := rows.Scan(&a, &b); err != nil {
			return err
		}
		fn(a.String, b.String)
	}
	_, err = sqlite.Readable(rows.Err())
	return err
}
