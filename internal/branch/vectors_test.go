package branch_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/branch"
)

// vectors are the parts of ../shared/vectors/adk-branch.json that this package
// answers for.
type vectors struct {
	Sets []struct {
		Name, Rule string
		Cases      []struct {
			Viewer  string `json:"agent_branch"`
			Event   string `json:"event_branch"`
			Visible bool
		}
	}
	Scopes struct {
		Cases []struct {
			Viewer  string `json:"agent_scope"`
			Event   string `json:"event_scope"`
			Visible bool
		}
	} `json:"isolation_scope"`
	CommonPrefix struct{ Cases [][2]json.RawMessage } `json:"common_prefix"`
	Tokens       struct {
		Join struct {
			Inputs []branch.Set
			Output branch.Set
		}
		Cases []struct {
			Name     string
			Contexts map[string]branch.Set
			Pairs    []pair `json:"can_see"`
		}
	} `json:"token_sets"`
	Structural struct {
		JSON  json.RawMessage
		Cases []struct {
			Name  string
			Pairs []pair `json:"can_see"`
		}
	}
}

type pair struct {
	Viewer, Event string
	Visible       bool
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("../../../shared/vectors/adk-branch.json")
	if os.IsNotExist(err) {
		t.Skip("the shared vectors are not beside this checkout (../shared/vectors/adk-branch.json)")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Sets) == 0 || len(v.Scopes.Cases) == 0 || len(v.CommonPrefix.Cases) == 0 ||
		len(v.Tokens.Cases) == 0 || len(v.Structural.Cases) == 0 {
		t.Fatal("the vectors have other parts than this test knows")
	}
	return v
}

// The rules of the vectors that are models, by how they begin; of the others, which
// nobody's stores have, it is held where path differs.
func TestVectorsOfPaths(t *testing.T) {
	models := map[string]branch.Model{"segment-prefix": branch.Path{}, "raw": branch.RawPrefix{}}
	differs := map[string][]string{
		"py-3528-bidirectional": {
			"parent_agent.child_agent.grandchild_agent seen from parent_agent.child_agent",
			"parent_agent.child_agent seen from parent_agent",
			"parent_agent.child_agent.grandchild_agent seen from parent_agent",
		},
		"go-0.2-0.3-empty-branch-HIDDEN": {" seen from p.w"},
	}
	for _, set := range readVectors(t).Sets {
		word, _, _ := strings.Cut(strings.ReplaceAll(set.Rule, ",", " "), " ")
		model, known := models[word]
		if !known {
			model = branch.Path{}
		}
		var otherwise []string
		for _, c := range set.Cases {
			if visible, _ := model.Visible(branch.Viewer{Label: c.Viewer}, branch.Event{Label: c.Event}); visible != c.Visible {
				otherwise = append(otherwise, c.Event+" seen from "+c.Viewer)
			}
		}
		if known == (differs[set.Name] != nil) {
			t.Errorf("%s has the rule %q, which this test does not expect", set.Name, set.Rule)
		}
		if !slices.Equal(otherwise, differs[set.Name]) {
			t.Errorf("%s: %T differs for %q, want %q", set.Name, model, otherwise, differs[set.Name])
		}
	}
}

func TestVectorsOfLabels(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Scopes.Cases {
		if got, _ := (branch.Path{}).Visible(branch.Viewer{Scope: c.Viewer}, branch.Event{Scope: c.Event}); got != c.Visible {
			t.Errorf("scope %q seen from %q: %t", c.Event, c.Viewer, got)
		}
	}
	for _, c := range v.CommonPrefix.Cases {
		var labels []string
		var want string
		if err := json.Unmarshal(c[0], &labels); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c[1], &want); err != nil {
			t.Fatal(err)
		}
		if got := branch.CommonPrefix(labels...); got != want {
			t.Errorf("common prefix of %q: %q, want %q", labels, got, want)
		}
	}
}

func TestVectorsOfTokens(t *testing.T) {
	v := readVectors(t).Tokens
	if got := branch.JoinSets(v.Join.Inputs...); !slices.Equal(got, v.Join.Output) {
		t.Errorf("joined %v, want %v", got, v.Join.Output)
	}
	for _, c := range v.Cases {
		labels := map[string]string{}
		for name, set := range c.Contexts {
			labels[name] = branch.Label{Tokens: set}.String()
		}
		checkPairs(t, branch.Tokens{}, c.Name, labels, c.Pairs)
	}
}

// The labels that the names of the structural vectors stand for: a fork of three,
// its first child forked in two, and the two groups with reducers of issue 3470,
// whose forks of three are joined when their reducers run.
func TestVectorsOfForks(t *testing.T) {
	forks := func(members string) string { return `{"active_forks":{` + members + `}}` }
	labels := map[string]string{
		"root": "", "parent": "", "joined": forks(""),
		"c0": forks(`"1":[[0],3]`), "c1": forks(`"1":[[1],3]`), "c2": forks(`"1":[[2],3]`),
		"g0 (fork of c0)": forks(`"1":[[0],3],"2":[[0],2]`), "g1 (fork of c0)": forks(`"1":[[0],3],"2":[[1],2]`),
		"A": forks(`"1":[[0],2],"2":[[0],3]`), "B": forks(`"1":[[0],2],"2":[[1],3]`), "C": forks(`"1":[[0],2],"2":[[2],3]`),
		"D": forks(`"1":[[1],2],"3":[[0],3]`), "E": forks(`"1":[[1],2],"3":[[1],3]`), "F": forks(`"1":[[1],2],"3":[[2],3]`),
		"R1": forks(`"1":[[0],2]`), "R2": forks(`"1":[[1],2]`), "R3": forks(""),
	}
	v := readVectors(t).Structural
	if label := branch.ParseLabel(string(v.JSON)); len(label.Forks) != 1 {
		t.Errorf("%s was read as %#v", v.JSON, label)
	}
	for _, c := range v.Cases {
		checkPairs(t, branch.Forks{}, c.Name, labels, c.Pairs)
	}
}

func checkPairs(t *testing.T, model branch.Model, name string, labels map[string]string, pairs []pair) {
	t.Helper()
	for _, p := range pairs {
		viewer, knownViewer := labels[p.Viewer]
		event, knownEvent := labels[p.Event]
		if !knownViewer || !knownEvent {
			t.Errorf("%s: no label is known for %s or %s", name, p.Viewer, p.Event)
		}
		if got := decide(model, branch.Viewer{Label: viewer}, branch.Event{Label: event}); got.visible != p.Visible {
			t.Errorf("%s: %s seen from %s: %v", name, p.Event, p.Viewer, got)
		}
	}
}
