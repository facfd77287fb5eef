package branch_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/branch"
)

// labels are paths of few segments with odd characters, so that many are above or
// beside each other, and labels of the JSON forms.
func labels() *rapid.Generator[string] {
	segment := rapid.SampledFrom([]string{
		"a", "A", "b", "ab", "agent_1", "agent_10", "", "%", "_", `\`, "ü", "Ü", " ", "tr@1", "tr@call_1", "@", `{"tokens":[1]}`, "{", "👋", "\xff",
	})
	path := rapid.Map(rapid.SliceOfN(segment, 0, 4), func(s []string) string { return strings.Join(s, ".") })
	set := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 4)
	tokens := rapid.Map(set, func(s []int) string { return encode(map[string]any{"tokens": s}) })
	some := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 4)
	forks := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"1", "2", "3"}), some, 0, 3), func(m map[string][]int) string {
		all := map[string]any{}
		for id, indices := range m {
			all[id] = []any{indices, 5}
		}
		return encode(map[string]any{"active_forks": all})
	})
	return rapid.OneOf(path, tokens, forks)
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// decoded is a second reader of the JSON forms, for what labels makes.
type decoded struct {
	Tokens []int            `json:"tokens"`
	Forks  map[string][]any `json:"active_forks"`
}

func decode(label string) (d decoded) {
	if json.Unmarshal([]byte(label), &d) != nil {
		return decoded{}
	}
	return d
}

func rootless(label string) string {
	if label == `{"tokens":[]}` || label == `{"active_forks":{}}` {
		return ""
	}
	return label
}

func seesPath(viewer, event string) bool {
	viewer, event = rootless(viewer), rootless(event)
	v, e := strings.Split(viewer, "."), strings.Split(event, ".")
	return viewer == "" || event == "" || len(e) <= len(v) && slices.Equal(e, v[:len(e)])
}

func seesRawPrefix(viewer, event string) bool {
	viewer, event = rootless(viewer), rootless(event)
	return viewer == "" || len(event) <= len(viewer) && viewer[:len(event)] == event
}

func seesTokens(viewer, event string) bool {
	v, e := decode(viewer).Tokens, decode(event).Tokens
	return e == nil || v == nil && rootless(viewer) != "" || !slices.ContainsFunc(e, func(n int) bool { return !slices.Contains(v, n) })
}

func seesForks(viewer, event string) bool {
	v, e := decode(viewer).Forks, decode(event).Forks
	for id, its := range e {
		mine, both := v[id]
		if both && !slices.ContainsFunc(its[0].([]any), func(n any) bool { return slices.Contains(mine[0].([]any), n) }) {
			return false
		}
	}
	return true
}

func TestModelsAgreeWithTheirReferences(t *testing.T) {
	for name, sees := range map[string]func(viewer, event string) bool{
		"path": seesPath, "raw-prefix": seesRawPrefix, "tokens": seesTokens, "forks": seesForks,
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			viewer, event := labels().Draw(t, "viewer"), labels().Draw(t, "event")
			got, reason := branch.FindModel(name).Visible(branch.Viewer{Label: viewer}, branch.Event{Label: event})
			if got != sees(viewer, event) || reason == branch.None {
				t.Fatalf("%t, %s", got, reason)
			}
		}))
	}
}

func TestRawPrefixHidesNothingThatPathShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, e := branch.Viewer{Label: labels().Draw(t, "viewer")}, branch.Event{Label: labels().Draw(t, "event")}
		path, raw := decide(branch.Path{}, v, e), decide(branch.RawPrefix{}, v, e)
		if path.visible && !raw.visible || path.reason != raw.reason {
			t.Fatalf("path %v, raw prefix %v", path, raw)
		}
	})
}

func TestCommonPrefixIsTheLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(labels(), 1, 4).Draw(t, "labels")
		common := branch.CommonPrefix(list...)
		for _, label := range list {
			if common != "" && !strings.HasPrefix(label+".", common+".") {
				t.Fatalf("%q is not above %q", common, label)
			}
		}
		next := strings.Split(list[0], ".")
		next = next[:min(len(strings.Split(common, "."))+1, len(next))]
		longer := strings.Join(next, ".")
		if longer == common || common == "" {
			return
		}
		if !slices.ContainsFunc(list, func(label string) bool { return !strings.HasPrefix(label+".", longer+".") }) {
			t.Fatalf("%q is longer than %q and above all", longer, common)
		}
	})
}

// agent is a tree of agents that says what runs when: a leaf speaks once or more, a
// sequence runs its children one after the other, a parallel agent all at once.
type agent struct {
	name     string
	parallel bool
	says     int
	children []*agent
}

type said struct {
	label string
	set   branch.Set
}

// run gives what the agent stores on a path, with the tokens that adk-python pull
// request 3889 would have given it, in an order in which it may be stored.
func (a *agent) run(t *rapid.T, f *branch.Factory, label string, set branch.Set) ([]said, branch.Set) {
	var rows []said
	for range a.says {
		rows = append(rows, said{label, set})
	}
	if !a.parallel {
		for _, child := range a.children {
			more, after := child.run(t, f, label, set)
			rows, set = append(rows, more...), after
		}
		return rows, set
	}
	sets := f.Fork(set, len(a.children))
	lists := make([][]said, len(a.children))
	for i, child := range a.children {
		lists[i], sets[i] = child.run(t, f, strings.TrimPrefix(label+"."+a.name+"."+child.name, "."), sets[i])
	}
	for {
		lists = slices.DeleteFunc(lists, func(l []said) bool { return len(l) == 0 })
		if len(lists) == 0 {
			return rows, branch.JoinSets(append(sets, set)...)
		}
		i := rapid.IntRange(0, len(lists)-1).Draw(t, "next")
		rows, lists[i] = append(rows, lists[i][0]), lists[i][1:]
	}
}

func drawAgent(t *rapid.T, names *int, depth int) *agent {
	*names++
	a := &agent{name: "a" + strconv.Itoa(*names)}
	kind := rapid.IntRange(0, 2).Draw(t, "kind")
	if kind == 0 || depth == 0 {
		a.says = rapid.IntRange(1, 2).Draw(t, "says")
		return a
	}
	a.parallel = kind == 1
	for range rapid.IntRange(1, 3).Draw(t, "children") {
		a.children = append(a.children, drawAgent(t, names, depth-1))
	}
	return a
}

// Whatever agents ran, in whatever order they finished: who sees whom under the
// recomputed tokens is who saw whom under those that were given out.
func TestRecomputedTokensTellWhoSeesWhom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var factory branch.Factory
		names := 0
		rows, _ := drawAgent(t, &names, 4).run(t, &factory, "", nil)
		list := make([]branch.Event, len(rows))
		for i, r := range rows {
			list[i].Label = r.label
		}
		again := branch.RecomputeLabels(list)
		for i, label := range again.Labels {
			for j, other := range again.Labels {
				sees, _ := branch.Tokens{}.Visible(branch.Viewer{Label: label}, branch.Event{Label: other})
				if sees != rows[i].set.Contains(rows[j].set) {
					t.Fatalf("%d sees %d: %t\n%v\n%v", i, j, sees, rows, again.Labels)
				}
			}
		}
	})
}
