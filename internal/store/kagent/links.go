package kagent

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// namespace joins the two parts of an agent's id, which is the name of the tool by
// which others call it, too (docs/stores/kagent.md#what-is-read).
const namespace = "__NS__"

// isDelegation reports whether a tool of this name is an agent.
func (r *reader) isDelegation(tool string) bool {
	return strings.Contains(tool, namespace) || r.agents[tool]
}

// listLinks lists the sessions that an event names: see eventlog.Layout.Links. Results and
// questions say them in members with these parts of names; whose calls are known by the
// tool's name has stamps that say them.
func (r *reader) listLinks(row columns) []string {
	doc, _ := unwrapDocument(column.Bytes(row("data")))
	stamped := len(r.stamps[column.View(row("session_id"))]) > 0
	if !jsonscan.Mentions(doc, "subagent", "ontext") && (!stamped || !jsonscan.Mentions(doc, namespace)) {
		return nil
	}
	it := session.Item{Shared: &session.Shared{}}
	form := dialectOf(doc)
	r.decodeDocument(form, doc, row, &it, false)
	n := r.tieItem(row, form, doc, &it)
	var ids []string
	add := func(id string) {
		if id != "" {
			ids = append(ids, id)
		}
	}
	for i := range it.Calls {
		if d := it.Calls[i].Delegation; d != nil {
			add(d.Child)
		}
		add(it.Calls[i].Question.Child)
	}
	for i := range it.Results {
		add(it.Results[i].Child)
		add(it.Results[i].Question.Child)
	}
	for _, q := range n.asks {
		add(q.Child)
	}
	return ids
}

// tieItem says of an item whose texts are there which calls are delegations and what
// their results say of the workers, and notes the rest.
func (r *reader) tieItem(row columns, form dialect, doc []byte, it *session.Item) note {
	n := note{form: form}
	for i := range it.Calls {
		r.tieCall(column.Text(row("session_id")), &it.Calls[i], &n)
	}
	for i := range it.Results {
		r.tieResult(&it.Results[i], &n)
	}
	if canHaveRequests(doc) {
		n.readActions(doc)
	}
	for i := range it.Results {
		if q := n.asks[it.Results[i].CallID]; q.Run != "" {
			it.Results[i].Question = q
		}
	}
	return n
}

// canHaveRequests reports whether a document can have headers, or requests for approval. Most say of
// these that there are no such requests.
func canHaveRequests(doc []byte) bool {
	some := func(rest []byte) bool {
		return !bytes.HasPrefix(rest, []byte(`s":{}`)) && !bytes.HasPrefix(rest, []byte(`s":null`))
	}
	return jsonscan.HasTextWhere(doc, "onfirmation", some) || jsonscan.Mentions(doc, "eaders")
}

// tieCall makes a delegation of every call that asks somebody for something; those
// that turn out to be none lose it in relate.
func (r *reader) tieCall(in string, c *session.Call, n *note) {
	if c.Waits {
		n.long = append(n.long, c.ID)
	}
	if c.Name == confirmation {
		c.Question = n.readConfirmation(c.ID, []byte(c.Args))
		return
	}
	request := requestOf([]byte(c.Args))
	if request == "" && !r.isDelegation(c.Name) {
		return
	}
	c.Delegation = &session.Delegation{Agent: c.Name, Task: session.DigestOf(request), Blocking: true, Apart: true}
	if child := r.stamps[in][c.ID]; child != "" {
		c.Delegation.Child, c.Delegation.Likely = child, true
	}
}

// requestOf is what a call of an agent asks it, "" where it asks nothing.
func requestOf(args []byte) string {
	var a struct {
		Request jsontext.Value `json:"request"`
	}
	if len(args) == 0 || args[0] != '{' || jsonscan.Go.Unmarshal(args, &a) != nil {
		return ""
	}
	return stringOf(a.Request)
}

// response is what a tool that is an agent answers (docs/stores/kagent.md#what-is-read).
type response struct {
	Result     jsontext.Value `json:"result"`
	Error      jsontext.Value `json:"error"`
	Status     jsontext.Value `json:"status"`
	WaitingFor jsontext.Value `json:"waiting_for"`
	Child      jsontext.Value `json:"subagent_session_id"`
}

func (r *reader) tieResult(res *session.Result, n *note) {
	var a response
	if !strings.HasPrefix(res.Text, "{") || exact.Unmarshal([]byte(res.Text), &a) != nil {
		return
	}
	if res.Name == confirmation {
		res.Question = readAnswer([]byte(res.Text))
	}
	res.Child = stringOf(a.Child)
	if res.Child == "" && !r.isDelegation(res.Name) {
		return
	}
	res.Answer = session.DigestOf(stringOf(a.Result))
	res.IsError = res.IsError || stringOf(a.Error) != "" || a.Error.Kind() == jsontext.KindBeginObject
	if stringOf(a.Status) == "pending" && stringOf(a.WaitingFor) != "" {
		res.Pending = true
		n.pending = append(n.pending, res.CallID)
	}
}

// makeSession makes a session of its row.
func (r *reader) makeSession(row columns) *session.Session {
	s := &session.Session{
		ID: column.Text(row("id")), User: column.Text(row("user_id")),
		Agent: column.Text(row("agent_id")), Title: column.Text(row("name")),
		Tick: time.Microsecond, Delegated: column.Text(row("source")) == "agent", Deleted: row("deleted_at") != nil,
	}
	s.Created, s.Updated = times.Read(row("created_at")).Time, times.Read(row("updated_at")).Time
	s.Faults = eventlog.BadTimes(row, &times, "created_at", "updated_at", "deleted_at")
	key := sessionKey{s.User, s.ID}
	s.Inseparable = r.explainInseparable(key)
	s.Runs = r.runsOf(key)
	if others := r.otherUsers(key); len(others) > 0 {
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
	quoted := lists.MapEach(users, func(user string) string { return fmt.Sprintf("%.60q", user) })
	return "the id is also that of a session of " + strings.Join(quoted, ", ") + more
}

// otherTables is what other tables than those of sessions and events say of a session.
type otherTables struct {
	tasks  map[string][]task            // by the session that they name
	lost   []session.Fault              // rows of tasks that cannot be read
	stamps map[string]map[string]string // the children of calls, by the session of these and their ids
	// questions are the calls that a waiting task itself says it waits for, by its id.
	questions map[string][]string
	threads   map[sessionKey]string // why the session cannot be parted
	users     map[string][]string   // who have sessions with an id
	counted   bool                  // no session is missing in users
	agents    map[string]bool       // by the names that their tools have
}

// sessionKey is the key of a session. The user is "" where a table does not say.
type sessionKey struct{ user, id string }

// prepareTables reads it anew. Of some sessions it is their tasks that a runtime changes while
// these go on.
func (r *reader) prepareTables(ctx context.Context, db table.Reader, of [][]table.Value) error {
	if of == nil {
		r.tasks, r.stamps, r.questions = map[string][]task{}, map[string]map[string]string{}, map[string][]string{}
		if err := cmp.Or(r.readSessions(ctx, db), r.readThreads(ctx, db)); err != nil {
			return err
		}
	}
	return r.readTasks(ctx, db, of)
}

// readSessions finds which users have sessions with an id, of which there can be several:
// a context id that two of them used makes a session for each (docs/stores/kagent.md#one-session-for-several-calls). And it finds which
// agents there are. Their ids are those of Kubernetes, or identifiers made of these, which
// are the names of tools (docs/stores/kagent.md#what-is-read).
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
	lost, err := table.Glance(ctx, db, tableSessions, []string{"id", "user_id", "agent_id"}, func(row []table.Value) {
		id := column.Text(row[0])
		r.users[id] = append(r.users[id], column.Text(row[1]))
		agent(column.Text(row[2]))
	})
	r.counted = lost == nil
	if err == nil {
		_, err = table.Glance(ctx, db, "agent", []string{"id"}, func(row []table.Value) { agent(column.Text(row[0])) })
	}
	for _, users := range r.users {
		slices.Sort(users)
	}
	return err
}

// otherUsers are the other users who have a session with the id.
func (r *reader) otherUsers(key sessionKey) []string {
	if len(r.users[key.id]) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.users[key.id]), func(user string) bool { return user == key.user })
}

// yieldedID is the id by which a session is yielded: see package eventlog.
func (r *reader) yieldedID(user, id string) string {
	if users := r.users[id]; len(users) > 1 && slices.Contains(users, user) {
		return user + "/" + id
	}
	return id
}

// memories are the tables in which other frameworks keep what an agent knows by the
// session as a whole (docs/stores/kagent.md#what-is-read).
var memories = []struct{ table, framework string }{
	{"lg_checkpoint", "LangGraph"}, {"lg_checkpoint_write", "LangGraph"}, {"crewai_flow_state", "CrewAI"}, {"crewai_agent_memory", "CrewAI"},
}

func (r *reader) readThreads(ctx context.Context, db table.Reader) error {
	r.threads = map[sessionKey]string{}
	for _, m := range memories {
		why := m.framework + " keeps the state of its agent for the session as a whole (table " + m.table + ")"
		_, err := table.Glance(ctx, db, m.table, []string{"thread_id", "user_id"}, func(row []table.Value) {
			r.threads[sessionKey{column.Text(row[1]), column.Text(row[0])}] = why
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// explainInseparable explains the reason why a session cannot be parted, as far as tables tell.
func (r *reader) explainInseparable(key sessionKey) string {
	if why := r.threads[key]; why != "" {
		return why
	}
	return r.threads[sessionKey{"", key.id}]
}
