package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

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
		if run = child.Items[request].Invocation; run == "" {
			return []int{request}
		}
	}
	return beforeModel(child, func(it *session.Item) bool { return it.Invocation == run })
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
