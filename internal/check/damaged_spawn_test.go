package check_test

import (
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// damagedSpawns have children that got more than their goal, or that gave more than
// their answer. Where an item of another agent crossed the border, one session also
// holds the words of two.
var damagedSpawns = []damagedDatabase{
	{rule: "SC801", name: "a child that gets an answer of its caller", build: func(t *testing.T) *office {
		return asking(t, func(child *agenttest.Session) {
			child.Prologue("Add the rule.", "")
			child.Assistant("root", agenttest.Message{Content: "I plan."})
		})
	}},
	{rule: "SC802", name: "a child that gets another task", build: func(t *testing.T) *office {
		return asking(t, func(child *agenttest.Session) { child.Prologue("Remove the rule.", "") })
	}},
	{rule: "SC803", name: "a child with steps from before its call", build: func(t *testing.T) *office {
		o := talk(t, func(root *agenttest.Session) { root.User("Build it") })
		child := o.root.Child(agenttest.SessionRow{Title: "Transferred task"})
		child.Prologue("Add the rule.", "")
		looks(child, "worker", "w1")
		o.Wait(time.Minute)
		o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.Transfer("t1", "worker", "Add the rule.", "")}})
		child.Assistant("worker", agenttest.Message{Content: "Done."})
		o.root.SubSession(child)
		o.root.Result("root", "t1", "Done.")
		o.root.Assistant("root", agenttest.Message{Content: "Done."})
		return o
	}},
	{rule: "SC804", name: "a child with a step of its caller", build: func(t *testing.T) *office {
		return asking(t, func(child *agenttest.Session) {
			child.Prologue("Add the rule.", "")
			looks(child, "root", "r1")
		})
	}},
	{rule: "SC805", name: "a background agent that speaks in its caller's session", build: func(t *testing.T) *office {
		return talk(t, func(root *agenttest.Session) {
			root.User("Build it")
			root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.RunBackground("b1", "worker", "Add the rule.", "")}})
			root.Result("root", "b1", "started")
			child := root.Child(agenttest.SessionRow{Title: "Background agent task"})
			child.Prologue("Add the rule.", "")
			looks(child, "worker", "w1")
			child.Assistant("worker", agenttest.Message{Content: "Done."})
			root.SubSession(child)
			looks(root, "worker", "w1")
			root.Assistant("root", agenttest.Message{Content: "It runs."})
		})
	}},
	{rule: "SC806", name: "a child that no call started", build: func(t *testing.T) *office {
		return talk(t, func(root *agenttest.Session) {
			root.User("Build it")
			child := root.Child(agenttest.SessionRow{Title: "Transferred task"})
			child.Prologue("Add the rule.", "")
			child.Assistant("worker", agenttest.Message{Content: "Done."})
			root.SubSession(child)
			root.Assistant("root", agenttest.Message{Content: "Done."})
		})
	}},
}

// asking is a database in which root plans and looks, then asks a worker, whose
// session begins as begin makes it.
func asking(t *testing.T, begin func(child *agenttest.Session)) *office {
	t.Helper()
	return talk(t, func(root *agenttest.Session) {
		root.User("Build it")
		root.Assistant("root", agenttest.Message{Content: "I plan."})
		root.User("Go on")
		looks(root, "root", "r1")
		root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.Transfer("t1", "worker", "Add the rule.", "")}})
		child := root.Child(agenttest.SessionRow{Title: "Transferred task"})
		begin(child)
		child.Assistant("worker", agenttest.Message{Content: "Done."})
		root.SubSession(child)
		root.Result("root", "t1", "Done.")
		root.Assistant("root", agenttest.Message{Content: "Done."})
	})
}
