package branch_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/branch"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		name   string
		viewer branch.Viewer
		event  branch.Event
		want   decision
	}{
		{"subset", branch.Viewer{Label: `{"tokens":[1,2,3,4]}`}, branch.Event{Label: `{"tokens":[1,2]}`}, decision{true, branch.TokenSubset}},
		{"one is missing", branch.Viewer{Label: `{"tokens":[1,2,3,4]}`}, branch.Event{Label: `{"tokens":[1,2,5]}`}, decision{false, branch.TokenMissing}},
		{"own, in another order", branch.Viewer{Label: `{"tokens":[1,3]}`}, branch.Event{Label: `{"tokens": [3,1]}`}, decision{true, branch.Own}},
		{"the empty set is the root", branch.Viewer{Label: `{"tokens":[1]}`}, branch.Event{Label: `{"tokens":[]}`}, decision{true, branch.Root}},
		{"no label is the root", branch.Viewer{Label: `{"tokens":[1]}`}, branch.Event{}, decision{true, branch.Root}},
		{"the root lacks a child's token", branch.Viewer{}, branch.Event{Label: `{"tokens":[1]}`}, decision{false, branch.TokenMissing}},
		{"so does the empty set", branch.Viewer{Label: `{"tokens":[]}`}, branch.Event{Label: `{"tokens":[1]}`}, decision{false, branch.TokenMissing}},
		{"a path is no set", branch.Viewer{Label: `{"tokens":[1]}`}, branch.Event{Label: "p.a"}, decision{true, branch.Root}},
		{"forks are no set", branch.Viewer{}, branch.Event{Label: `{"active_forks":{"1":[[0],3]}}`}, decision{true, branch.Root}},
		{"own path", branch.Viewer{Label: "p.a@1"}, branch.Event{Label: "p.a@1"}, decision{true, branch.Own}},
		{"a viewer on a path", branch.Viewer{Label: "p.a@1"}, branch.Event{Label: `{"tokens":[1]}`}, decision{true, branch.Unbranched}},
		{"same invocation", branch.Viewer{Invocation: "e-1"}, branch.Event{Label: `{"tokens":[1]}`, Invocation: "e-1"}, decision{false, branch.TokenMissing}},
		{"another invocation", branch.Viewer{Invocation: "e-2"}, branch.Event{Label: `{"tokens":[1]}`, Invocation: "e-1"}, decision{true, branch.OtherInvocation}},
		{"the viewer's invocation is not known", branch.Viewer{}, branch.Event{Label: `{"tokens":[1]}`, Invocation: "e-1"}, decision{false, branch.TokenMissing}},
		{"the event's invocation is not known", branch.Viewer{Invocation: "e-2"}, branch.Event{Label: `{"tokens":[1]}`}, decision{false, branch.TokenMissing}},
	} {
		if got := decide(branch.Tokens{}, c.viewer, c.event); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The labels are those of a fork of three (id 1), its first child forked in two
// (id 2), and a fork of two whose members fork again (ids 1, 2 and 3).
func TestForks(t *testing.T) {
	label := map[string]string{
		"parent": `{"active_forks":{}}`, "root": "",
		"c0": `{"active_forks":{"1":[[0],3]}}`, "c1": `{"active_forks":{"1":[[1],3]}}`, "c2": `{"active_forks":{"1":[[2],3]}}`,
		"two of three": `{"active_forks":{"1":[[1,0],3]}}`,
		"g0":           `{"active_forks":{"1":[[0],3],"2":[[0],2]}}`, "g1": `{"active_forks":{"2":[[1],2],"1":[[0],3]}}`,
		"g0 otherwise": `{"active_forks": {"2":[[0],2], "1":[[0],3]}}`,
		"h0":           `{"active_forks":{"1":[[0],3],"3":[[0],2]}}`,
	}
	for _, c := range []struct {
		viewer, event string
		want          decision
	}{
		{"c0", "c1", decision{false, branch.ForkDisjoint}},
		{"c1", "c0", decision{false, branch.ForkDisjoint}},
		{"c2", "c0", decision{false, branch.ForkDisjoint}},
		{"c0", "c0", decision{true, branch.Own}},
		{"c0", "root", decision{true, branch.Root}},
		{"c0", "parent", decision{true, branch.Root}},
		{"parent", "c2", decision{true, branch.Unbranched}},
		{"g0", "c0", decision{true, branch.Ancestor}},
		{"g0", "c1", decision{false, branch.ForkDisjoint}},
		{"g0", "g0 otherwise", decision{true, branch.Own}},
		{"g0", "g1", decision{false, branch.ForkDisjoint}},
		{"g1", "c1", decision{false, branch.ForkDisjoint}},
		{"c0", "g0", decision{true, branch.Child}},
		{"g0", "h0", decision{true, branch.Unrelated}},
		{"two of three", "c1", decision{true, branch.Ancestor}},
		{"two of three", "c2", decision{false, branch.ForkDisjoint}},
	} {
		got := decide(branch.Forks{}, branch.Viewer{Label: label[c.viewer]}, branch.Event{Label: label[c.event]})
		if got != c.want {
			t.Errorf("%s of %s: %v, want %v", c.viewer, c.event, got, c.want)
		}
	}
	if got := decide(branch.Forks{}, branch.Viewer{Label: label["c0"]}, branch.Event{Label: "p.a"}); got != (decision{true, branch.Root}) {
		t.Errorf("a path among forks: %v", got)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		viewer, event string
		want          decision
	}{
		{`["main"]`, `["alt","main"]`, decision{true, branch.Own}},
		{`["alt"]`, `["alt","main"]`, decision{true, branch.Own}},
		{`["alt"]`, `["main"]`, decision{false, branch.Sibling}},
		{`["alt"]`, ``, decision{true, branch.Root}},
		{``, `["main"]`, decision{true, branch.Unbranched}},
	} {
		if got := decide(branch.Names{}, branch.Viewer{Label: c.viewer}, branch.Event{Label: c.event}); got != c.want {
			t.Errorf("%s seen from %s: %v, want %v", c.event, c.viewer, got, c.want)
		}
	}
	if label := branch.NamesLabel("main", "a,b", "main"); label != `["a,b","main"]` || branch.ParseLabel(label).String() != label || branch.ParseLabel(label).IsRoot() {
		t.Errorf("the label is %s", label)
	}
	for _, path := range []string{`["main", "alt"]`, `["b","a"]`, `["a","a"]`, `[""`, `[1]`} {
		if branch.ParseLabel(path).Path != path {
			t.Errorf("%s is taken for names", path)
		}
	}
	if !branch.ByNames("names") || branch.ByNames("path") || branch.ByNames("") {
		t.Error("another model is taken for that of names")
	}
}
