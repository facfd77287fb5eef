package kagent

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// namespace joins the two parts of an agent's id, which is the name of the tool by
// which others call it, too (b3).
const namespace = "__NS__"

// isDelegation reports whether a tool of this name is an agent.
func (r *reader) isDelegation(tool string) bool {
	return strings.Contains(tool, namespace) || r.agents[tool]
}

// linking are texts one of which a document has that names another session.
var linking = [][]byte{[]byte("subagent"), []byte("ontext"), []byte(namespace)}

// links are the sessions that an event names: see eventlog.Layout.Links.
func (r *reader) links(row columns) []string {
	doc, _ := unwrap(bytesOf(row("data")))
	if !contains(doc, linking) {
		return nil
	}
	var it session.Item
	form := dialectOf(doc)
	r.decode(form, doc, row, &it)
	n := r.tie(row, form, doc, &it)
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

func contains(doc []byte, any [][]byte) bool {
	for _, text := range any {
		if bytes.Contains(doc, text) {
			return true
		}
	}
	return false
}

// tie says of an item whose texts are there which calls are delegations and what
// their results say of the workers, and notes the rest.
func (r *reader) tie(row columns, form dialect, doc []byte, it *session.Item) note {
	n := note{form: form}
	for i := range it.Calls {
		r.tieCall(textOf(row("session_id")), &it.Calls[i], &n)
	}
	for i := range it.Results {
		r.tieResult(&it.Results[i], &n)
	}
	if contains(doc, [][]byte{[]byte("eaders"), []byte("onfirmation")}) {
		n.read(doc)
	}
	for i := range it.Results {
		if q := n.asks[it.Results[i].CallID]; q.Run != "" {
			it.Results[i].Question = q
		}
	}
	return n
}

// tieCall makes a delegation of every call that asks somebody for something; those
// that turn out to be none lose it in relate.
func (r *reader) tieCall(in string, c *session.Call, n *note) {
	if c.Waits {
		n.long = append(n.long, c.ID)
	}
	if c.Name == confirmation {
		c.Question = n.confirm(c.ID, []byte(c.Args))
		return
	}
	request := requestOf([]byte(c.Args))
	if request == "" && !r.isDelegation(c.Name) {
		return
	}
	c.Delegation = &session.Delegation{Agent: c.Name, Task: session.DigestOf(request), Blocking: true, Apart: true}
	if child := r.stamps[stamp{in, c.ID}]; child != "" {
		c.Delegation.Child, c.Delegation.Likely = child, true
	}
}

// requestOf is what a call of an agent asks it, "" where it asks nothing.
func requestOf(args []byte) string {
	var a struct {
		Request jsontext.Value `json:"request"`
	}
	if len(args) == 0 || args[0] != '{' || json.Unmarshal(args, &a, lenient) != nil {
		return ""
	}
	return stringOf(a.Request)
}

// response is what a tool that is an agent answers (b3).
type response struct {
	Result     jsontext.Value `json:"result"`
	Error      jsontext.Value `json:"error"`
	Status     jsontext.Value `json:"status"`
	WaitingFor jsontext.Value `json:"waiting_for"`
	Child      jsontext.Value `json:"subagent_session_id"`
}

func (r *reader) tieResult(res *session.Result, n *note) {
	var a response
	if !strings.HasPrefix(res.Text, "{") || json.Unmarshal([]byte(res.Text), &a, lenient) != nil {
		return
	}
	if res.Name == confirmation {
		res.Question = answered([]byte(res.Text))
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
