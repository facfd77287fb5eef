package branch_test

import (
	"reflect"
	"testing"

	"github.com/sessctl/sessctl/internal/branch"
)

func TestParse(t *testing.T) {
	type forks = map[string]branch.Fork
	for _, c := range []struct {
		text  string
		label branch.Label
		root  bool
		again string // as it is written
	}{
		{"", branch.Label{}, true, ""},
		{"a.b", branch.Label{Path: "a.b"}, false, "a.b"},
		{`{"tokens":[1,3]}`, branch.Label{Tokens: branch.Set{1, 3}}, false, `{"tokens":[1,3]}`},
		{`{ "tokens": [3, 1, 3] }`, branch.Label{Tokens: branch.Set{1, 3}}, false, `{"tokens":[1,3]}`},
		{`{"tokens":[]}`, branch.Label{Tokens: branch.Set{}}, true, `{"tokens":[]}`},
		{`{"active_forks":{}}`, branch.Label{Forks: forks{}}, true, `{"active_forks":{}}`},
		{`{"active_forks":{"2":[[1,0],3],"1":[[0],2]}}`,
			branch.Label{Forks: forks{"1": {branch.Set{0}, 2}, "2": {branch.Set{0, 1}, 3}}}, false,
			`{"active_forks":{"1":[[0],2],"2":[[0,1],3]}}`},
	} {
		got := branch.ParseLabel(c.text)
		if !reflect.DeepEqual(got, c.label) || got.IsRoot() != c.root || got.String() != c.again {
			t.Errorf("%q: %#v, root %t, written as %q", c.text, got, got.IsRoot(), got.String())
		}
	}
}

func TestWhatIsNotOfAFormIsAPath(t *testing.T) {
	for _, text := range []string{
		`{`, `{}`, `{"tokens":[1]`, `{"tokens":[1]}x`, `{"tokens":null}`, `{"tokens":[null]}`, `{"tokens":["1"]}`, `{"tokens":[1.5]}`,
		`{"tokens":[1e300]}`, `{"tokens":[9007199254740993]}`, `{"Tokens":[1]}`, `{"tokens":[1],"more":2}`, `{"tokens":1}`, ` {"tokens":[1]}`, `[1,3]`, `null`,
		`{"active_forks":[]}`, `{"active_forks":null}`, `{"active_forks":{"1":[[0]]}}`, `{"active_forks":{"1":[0,3]}}`,
		`{"active_forks":{"1":[[0],"3"]}}`, `{"active_forks":{"1":null}}`,
	} {
		if got := branch.ParseLabel(text); !reflect.DeepEqual(got, branch.Label{Path: text}) {
			t.Errorf("%q: %#v, want a path", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "a.b", `{"tokens":[3,1]}`, `{"active_forks":{"1":[[0],3]}}`, `{"tokens":[]}`, `{`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		label := branch.ParseLabel(text)
		if again := branch.ParseLabel(label.String()); !reflect.DeepEqual(again, label) {
			t.Errorf("%q is %#v, and written and read again %#v", text, label, again)
		}
		if isPath := label.Tokens == nil && label.Forks == nil; isPath && label.Path != text {
			t.Errorf("%q became the path %q", text, label.Path)
		}
		for _, m := range branch.Models {
			seen, reason := m.Model.Visible(branch.Viewer{Label: text}, branch.Event{Label: text})
			if !seen {
				t.Errorf("%s hides an agent's own event of %q as %s", m.Name, text, reason)
			}
		}
	})
}
