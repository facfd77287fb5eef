package branch_test

import (
	"reflect"
	"testing"

	"github.com/sessctl/sessctl/internal/branch"
)

// decision is a yes or no of a model with its reason.
type decision struct {
	visible bool
	reason  branch.Reason
}

func decide(m branch.Model, v branch.Viewer, e branch.Event) decision {
	visible, reason := m.Visible(v, e)
	return decision{visible, reason}
}

// What comes before branches: the reader passes an event over, whoever asks, and
// scopes and nodes count under every rule of labels.
func TestWhatComesBeforeBranches(t *testing.T) {
	for _, c := range []struct {
		name   string
		viewer branch.Viewer
		event  branch.Event
		labels decision // of every model of labels
		own    decision // of Session
	}{
		{"archived", branch.Viewer{}, branch.Event{Kept: branch.Archived}, decision{false, branch.Archived}, decision{false, branch.Archived}},
		{"rewound and of another scope", branch.Viewer{}, branch.Event{Kept: branch.Rewound, Scope: "t"}, decision{false, branch.Rewound}, decision{false, branch.Rewound}},
		{"compacted", branch.Viewer{}, branch.Event{Kept: branch.Compacted}, decision{false, branch.Compacted}, decision{false, branch.Compacted}},
		{"hidden kind", branch.Viewer{}, branch.Event{Kept: branch.HiddenKind}, decision{false, branch.HiddenKind}, decision{false, branch.HiddenKind}},
		{"same scope", branch.Viewer{Scope: "task-1"}, branch.Event{Scope: "task-1"}, decision{true, branch.Root}, decision{true, branch.OwnSession}},
		{"other scope", branch.Viewer{Scope: "task-1"}, branch.Event{Scope: "task-2"}, decision{false, branch.OutOfScope}, decision{true, branch.OwnSession}},
		{"scope sees no unscoped", branch.Viewer{Scope: "task-1"}, branch.Event{}, decision{false, branch.OutOfScope}, decision{true, branch.OwnSession}},
		{"unscoped sees no scope", branch.Viewer{}, branch.Event{Scope: "task-1"}, decision{false, branch.OutOfScope}, decision{true, branch.OwnSession}},
		{"for this node", branch.Viewer{Node: "wf/a@1"}, branch.Event{Node: "wf/a@1"}, decision{true, branch.Root}, decision{true, branch.OwnSession}},
		{"for another node", branch.Viewer{Node: "wf/a@1"}, branch.Event{Node: "wf/b@1"}, decision{false, branch.OutOfScope}, decision{true, branch.OwnSession}},
		{"for a node, viewer at none", branch.Viewer{}, branch.Event{Node: "wf/b@1"}, decision{false, branch.OutOfScope}, decision{true, branch.OwnSession}},
		{"for all nodes", branch.Viewer{Node: "wf/a@1"}, branch.Event{}, decision{true, branch.Root}, decision{true, branch.OwnSession}},
		{"another session", branch.Viewer{Session: "P"}, branch.Event{Session: "C"}, decision{true, branch.Root}, decision{false, branch.OtherSession}},
		{"the same session, other branch", branch.Viewer{Session: "P"}, branch.Event{Session: "P"}, decision{true, branch.Root}, decision{true, branch.OwnSession}},
	} {
		for _, m := range branch.Models {
			want := c.labels
			if m.Name == "session" {
				want = c.own
			}
			if got := decide(m.Model, c.viewer, c.event); got != want {
				t.Errorf("%s, %s: %v, want %v", c.name, m.Name, got, want)
			}
		}
	}
}

func TestOpenScopes(t *testing.T) {
	open := branch.ReaderOf("path", branch.Path{OpenScopes: true})
	for _, c := range []struct {
		viewer, event string
		visible       bool
	}{{"", "", true}, {"a", "", true}, {"a", "a", true}, {"a", "b", false}, {"", "a", false}} {
		if got, _ := open.Visible(branch.Viewer{Scope: c.viewer}, branch.Event{Scope: c.event}); got != c.visible {
			t.Errorf("scope %q seen from %q: %t", c.event, c.viewer, got)
		}
	}
}

func TestModelsByName(t *testing.T) {
	byLabel := map[string]bool{"path": true, "raw-prefix": true, "tokens": true, "forks": true, "names": true, "session": false}
	if len(byLabel) != len(branch.Models) {
		t.Errorf("%d models, want %d", len(branch.Models), len(byLabel))
	}
	for name, want := range byLabel {
		if branch.FindModel(name) == nil || branch.ByLabel(name) != want {
			t.Errorf("%s: model %v, by label %t, want %t", name, branch.FindModel(name), branch.ByLabel(name), want)
		}
	}
	if branch.FindModel("paths") != nil || branch.ByLabel("") {
		t.Error("there is a model without a name of the table")
	}
}

func TestReaderOfAStore(t *testing.T) {
	for _, c := range []struct {
		model string
		hides bool
		want  branch.Model
	}{
		{"path", false, branch.Path{}},
		{"path", true, branch.Path{HidesToolRuns: true}},
		{"tokens", true, branch.Tokens{}},
		{"session", false, branch.Session{}},
		{"", false, branch.Session{}},
	} {
		got := branch.ReaderOf(c.model, branch.Path{HidesToolRuns: c.hides})
		path, _ := got.(branch.Path)
		if reflect.TypeOf(got) != reflect.TypeOf(c.want) || path.HidesToolRuns != c.hides && c.model == "path" {
			t.Errorf("reader of %q, %t: %#v, want %#v", c.model, c.hides, got, c.want)
		}
	}
}
