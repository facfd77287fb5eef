package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules/isolation"
	"github.com/sessctl/sessctl/internal/session"
)

// Border is what passed between a session and the child that one call of it started:
// what went in, what came out, and what crossed it besides.
type Border struct {
	Caller *session.Session
	Item   int // of the call
	Call   *session.Call
	Agent  string           // who was asked, "" when nothing says so
	Child  *session.Session // nil when it is not known or not stored
	Shared int              // the calls that have this child, 1 as a rule; 0 without one

	Goal    string // the task as the call words it, else as the child was told it; "" when neither is known
	Given   []int  // what the call gave the child: its items before its agent spoke; of a shared one none where nothing tells
	Out     *Outcome
	Crossed []*check.Finding
}

// Outcome is the result of the call.
type Outcome struct {
	Item   int // in the caller's session
	Result *session.Result
	Answer bool // it is the last answer of the child
}

// BuildBorders makes the view of all borders of a session and of those below it. Findings
// are those of the rules about several agents, and bodies are loaded.
func BuildBorders(in Input) *View {
	b := newBuilder(in)
	shown := b.buildSession(in.Tree.Session(in.Session))
	shown.Rows = nil
	v := &View{Store: in.Store, Shown: shown, Borders: []Border{}}
	v.assignFindings(in.Findings, b.drawn)
	count := map[*session.Session]int{}
	for _, rs := range b.trace.Sessions {
		for _, d := range rs.Delegations {
			if d.Child != nil {
				count[d.Child]++
			}
		}
	}
	for _, rs := range b.trace.Sessions {
		if !b.drawn[rs.Session.ID] {
			continue
		}
		for _, d := range rs.Delegations {
			border := borderOf(d, count[d.Child])
			border.Crossed = crossingFindings(d, in.Findings)
			v.Borders = append(v.Borders, border)
		}
	}
	return v
}

func borderOf(d *replay.Delegation, shared int) Border {
	call := d.Call()
	b := Border{Caller: d.Session, Item: d.Item, Call: call, Agent: call.Delegation.Agent, Child: d.Child, Shared: shared, Goal: isolation.GoalText(call)}
	if d.Child != nil {
		if b.Agent == "" {
			b.Agent = replay.FirstAgent(d.Child)
		}
		b.Given = givenTo(d, shared > 1)
		if b.Goal == "" {
			b.Goal = goalToldTo(d.Child, b.Given, cmp.Or(call.Delegation.Task, d.Child.Task))
		}
	}
	if r := d.Outcome(); r != nil {
		b.Out = &Outcome{Item: d.Final, Result: r, Answer: d.Child != nil && isAnswer(r, d.Child)}
	}
	return b
}

// isAnswer reports whether a result is what the child said last.
func isAnswer(r *session.Result, child *session.Session) bool {
	last := replay.LastAnswer(child)
	if last < 0 {
		return false
	}
	said := &child.Items[last]
	return said.Text == r.Digest || said.Text == r.Answer || said.Body != nil && strings.TrimSpace(said.Body.Text) == strings.TrimSpace(r.Text)
}

// crossingFindings are the findings about a border: about something between the call and the
// end of its window, or about the child.
func crossingFindings(d *replay.Delegation, found []*check.Finding) []*check.Finding {
	var list []*check.Finding
	for _, f := range found {
		switch {
		case d.Child != nil && (f.Session == d.Child.ID || refersTo(f, d.Child.ID)):
		case f.Session != d.Session.ID || f.Call != "" && f.Call != d.Call().ID:
			continue
		case !slices.ContainsFunc(f.Items, func(i int) bool { return d.Item <= i && i < max(d.End, d.Item+1) }):
			continue
		}
		list = append(list, f)
	}
	return list
}

func refersTo(f *check.Finding, id string) bool {
	for _, list := range [][]session.Place{f.Related, f.Twins} {
		for _, p := range list {
			if p.Session == id {
				return true
			}
		}
	}
	return false
}

// givenTo are the items that a call gave its child: those that the child starts with, up
// to the first of a model. In a child that several calls share, they are those of the
// call's own request.
func givenTo(d *replay.Delegation, shared bool) []int {
	child := d.Child
	if !shared {
		return beforeModel(child, func(*session.Item) bool { return true })
	}
	run, asked := runOf(d)
	if run == "" {
		request := onlyRequest(child, asked)
		if request < 0 {
			return nil
		}
		if run = child.Items[request].Invocation(); run == "" {
			return []int{request}
		}
	}
	return beforeModel(child, func(it *session.Item) bool { return it.Invocation() == run })
}

// beforeModel are the items among some that a request holds, up to the first of them
// that a model said or a tool answered.
func beforeModel(s *session.Session, among func(*session.Item) bool) []int {
	var list []int
	for i := range s.Items {
		it := &s.Items[i]
		if !among(it) {
			continue
		}
		if it.Kind == session.Message && (it.Role == session.Assistant || it.Role == session.Tool) {
			break
		}
		if it.OnWire() {
			list = append(list, i)
		}
	}
	return list
}

// runOf is the invocation of the run that the call started, "" where the store does not
// say, and what was asked.
func runOf(d *replay.Delegation) (invocation string, asked session.Digest) {
	what := d.Call().Delegation
	n := slices.IndexFunc(d.Child.Runs, func(r session.Run) bool { return what.Run != "" && r.ID == what.Run })
	if n < 0 {
		return "", what.Task
	}
	return d.Child.Runs[n].Invocation, d.Child.Runs[n].Asked
}

// onlyRequest is the one message of the user that says what was asked, -1 where none or
// several do.
func onlyRequest(s *session.Session, asked session.Digest) int {
	found := -1
	for i := range s.Items {
		if it := &s.Items[i]; asked == 0 || it.Role != session.User || it.Text != asked || !it.OnWire() {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// goalToldTo is the message of the user with a task among those that a child was given.
func goalToldTo(child *session.Session, given []int, task session.Digest) string {
	for _, i := range given {
		if it := &child.Items[i]; task != 0 && it.Role == session.User && it.Text == task && it.Body != nil {
			return it.Body.Text
		}
	}
	return ""
}
