package check_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// damagedTrees have messages, sub-sessions and references in the wrong place.
var damagedTrees = []damagedDatabase{
	{rule: "SC701", name: "a worker who leaked", build: func(t *testing.T) *office {
		return program(t, asks(agenttest.Step{Text: "doing", Calls: shell}, agenttest.Step{Text: "did it"}))
	}},
	{rule: "SC702", name: "a worker who was compacted", build: func(t *testing.T) *office {
		return program(t, asks(agenttest.Step{Text: "doing", Calls: shell, Summary: "so far"}, agenttest.Step{Text: "did it"}))
	}, also: "SC721"},
	{rule: "SC703", name: "a worker who failed", build: func(t *testing.T) *office {
		return program(t, asks(agenttest.Step{Text: "doing", Calls: shell}, agenttest.Step{End: agenttest.Failed, Error: "boom"}))
	}},
	{rule: "SC704", name: "a reference that was emptied", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "DeleteSession", o.child.ID)
	}},
	{rule: "SC704", name: "a reference to a session that is gone", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		gone := o.root.SubSession(o.root.Child(agenttest.SessionRow{Title: "Transferred task"}))
		return o.damage(t, "DeleteSession", o.child.ID).damage(t, "DanglingReference", gone.Row)
	}, also: "SC705"},
	{rule: "SC705", name: "a child that no item refers to", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "UnreferencedChild", o.sub.Row)
	}},
	{rule: "SC706", name: "a session that is its own parent", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "ParentCycle", o.root.ID, o.root.ID)
	}},
	{rule: "SC706", name: "a parent that is its child's child", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "ParentCycle", o.child.ID, o.root.ID)
	}},
	{rule: "SC706", name: "a child that refers to its parent", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "ReferenceCycle", o.child.ID, o.root.ID)
	}},
	{rule: "SC715", name: "two sessions that refer to one child", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		other := o.Root(agenttest.SessionRow{Title: "Fix the build (branched)"})
		other.User("Fix the build")
		return o.damage(t, "TwoReferrers", o.sub.Row, other.ID)
	}},
	{rule: "SC715", name: "a child that names another parent", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		other := o.Root(agenttest.SessionRow{Title: "Another"})
		other.User("hello")
		return o.damage(t, "WrongParent", o.child.ID, other.ID)
	}},
	{rule: "SC716", name: "an answer that only the child has", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "DropResult", o.answer.Row)
	}},
	{rule: "SC717", name: "a child without items", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "EmptyChild", o.child.ID)
	}},
	{rule: "SC719", name: "a child that was cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "StrayChildRoot", o.sub.Row)
	}},
	{rule: "SC720", name: "a result under the worker's name", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "ResultAgentMismatch", o.answer.Row, "worker")
	}},
	{rule: "SC721", name: "a child without its task", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "MissingPrologue", o.child.ID)
	}},
}
