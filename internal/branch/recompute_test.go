package branch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/branch"
)

// events reads rows of one invocation each: "a p1.a" is an event of agent a on
// branch p1.a, "a" one without a branch.
func events(invocations ...string) (agents []string, list []branch.Event) {
	for n, invocation := range invocations {
		for row := range strings.SplitSeq(strings.TrimSpace(invocation), "\n") {
			agent, label, _ := strings.Cut(strings.TrimSpace(row), " ")
			agents = append(agents, agent)
			list = append(list, branch.Event{Label: label, Invocation: string(rune('A' + n))})
		}
	}
	return agents, list
}

// tokensOf is the set of each agent as Recompute gives it: "a{1} b{2}".
func tokensOf(invocations ...string) string {
	agents, list := events(invocations...)
	labels := branch.RecomputeLabels(list).Labels
	sets := make([]string, len(labels))
	for i, label := range labels {
		sets[i] = agents[i] + strings.NewReplacer(`"tokens":`, "", "[", "", "]", "").Replace(label)
	}
	return strings.Join(sets, " ")
}

func TestRecompute(t *testing.T) {
	for _, c := range []struct{ name, rows, want string }{
		{"a group and a reducer", `
			user
			a p1.a
			b p1.b
			r`,
			"user{} a{1} b{2} r{1,2}"},
		{"a sequence of two groups and a reducer, in whatever order they finish", `
			user
			b p1.b
			a p1.a
			e p2.e
			d p2.d
			r`,
			"user{} b{2} a{1} e{1,2,4} d{1,2,3} r{1,2,3,4}"},
		{"a sequence of three groups", `
			user
			Alice p1.Alice
			Carol p1.Carol
			Bob p1.Bob
			Dave p2.Dave
			Eve p2.Eve
			Frank p2.Frank
			Heidi p3.Heidi
			Grace p3.Grace
			Iris p3.Iris`,
			"user{} Alice{1} Carol{3} Bob{2} Dave{1,2,3,4} Eve{1,2,3,5} Frank{1,2,3,6} " +
				"Heidi{1,2,3,4,5,6,8} Grace{1,2,3,4,5,6,7} Iris{1,2,3,4,5,6,9}"},
		{"groups within a group, with reducers", `
			user
			D fin.g2.def.D
			A fin.g1.abc.A
			B fin.g1.abc.B
			E fin.g2.def.E
			C fin.g1.abc.C
			R1 fin.g1
			F fin.g2.def.F
			R2 fin.g2
			R3`,
			"user{} D{2,6} A{1,3} B{1,4} E{2,7} C{1,5} R1{1,3,4,5} F{2,8} R2{2,6,7,8} R3{1,2,3,4,5,6,7,8}"},
		{"a group that is a child itself", `
			a par1.a
			b par1.par2.par2.b
			c par1.par2.par2.c
			r`,
			"a{1} b{2,3} c{2,4} r{1,2,3,4}"},
		{"children by number, not by text", `
			a10 p.a10
			a2 p.a2
			b02 p.b02
			b2 p.b2
			b02c p.b02c
			a p.a`,
			"a10{3} a2{2} b02{4} b2{5} b02c{6} a{1}"},
		{"an agent says several things, before and after a group of its own", `
			a p.x
			a p.x
			c p.x.q.c
			d p.x.q.d
			b p.y
			a p.x`,
			"a{1} a{1} c{1,3} d{1,4} b{2} a{1,3,4}"},
		{"the same parallel agent again, after its caller spoke", `
			a p.a
			b p.b
			loop
			b p.b
			a p.a`,
			"a{1} b{2} loop{1,2} b{1,2,4} a{1,2,3}"},
		{"what stands elsewhere ends no group", `
			a p.x.q.a
			c p.y
			b p.x.q.b
			r p.x`,
			"a{1,3} c{2} b{1,4} r{1,3,4}"},
	} {
		if got := tokensOf(c.rows); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

func TestRecomputeBeginsAnewWithEachInvocation(t *testing.T) {
	got := tokensOf("user\na p.a\nb p.b", "user\nb p.b\na p.a\nr")
	if want := "user{} a{1} b{2} user{} b{2} a{1} r{1,2}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRecomputeOfMixedInvocations(t *testing.T) {
	_, list := events("a p.a\nb p.b", "a p.a\nb p.b\nr")
	mixed := []branch.Event{list[0], list[2], list[1], list[3], list[4]}
	want := []string{`{"tokens":[1]}`, `{"tokens":[1]}`, `{"tokens":[2]}`, `{"tokens":[2]}`, `{"tokens":[1,2]}`}
	if got := branch.RecomputeLabels(mixed).Labels; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is no list of pairs neither changes nor ends the groups around it.
func TestRecomputeKeepsWhatItCannotRead(t *testing.T) {
	for _, label := range []string{"wf", "p.s.x", "tr@1.x", "p.a.tr@call_1", "p.tr@1", "p..", ".x", "fin.g1.abc.abc.a"} {
		got := branch.RecomputeLabels([]branch.Event{{Label: "p.a"}, {Label: label}, {Label: "p.b"}, {}})
		want := []string{`{"tokens":[1]}`, label, `{"tokens":[2]}`, `{"tokens":[1,2]}`}
		if !slices.Equal(got.Labels, want) || got.Unreadable != 1 {
			t.Errorf("%q: %q, %d unreadable; want %q", label, got.Labels, got.Unreadable, want)
		}
	}
	for _, label := range []string{`{"tokens":[7]}`, `{"tokens":[1.0,2]}`, `{"active_forks":{"1":[[0],3]}}`} {
		got := branch.RecomputeLabels([]branch.Event{{Label: label}})
		if got.Labels[0] != label || got.Unreadable != 0 {
			t.Errorf("%q became %q, %d unreadable", label, got.Labels[0], got.Unreadable)
		}
	}
}

// The gap of adk-python issue 3470, sequence of groups: a later group is blind to
// an earlier one under paths, and sees it under tokens.
func TestTokensCloseTheGapOfPaths(t *testing.T) {
	_, list := events("user\na p1.a\nb p1.b\nd p2.d\ne p2.e\nr")
	labels := branch.RecomputeLabels(list).Labels
	const a, d, e = 1, 3, 4
	for _, c := range []struct {
		viewer, event int
		path, tokens  decision
	}{
		{d, a, decision{false, branch.Unrelated}, decision{true, branch.TokenSubset}},
		{d, e, decision{false, branch.Sibling}, decision{false, branch.TokenMissing}},
		{a, d, decision{false, branch.Unrelated}, decision{false, branch.TokenMissing}},
	} {
		viewer, event := branch.Viewer{Label: list[c.viewer].Label, Invocation: "A"}, list[c.event]
		if got := decide(branch.Path{}, viewer, event); got != c.path {
			t.Errorf("%d of %d under paths: %v, want %v", c.viewer, c.event, got, c.path)
		}
		viewer.Label, event.Label = labels[c.viewer], labels[c.event]
		if got := decide(branch.Tokens{}, viewer, event); got != c.tokens {
			t.Errorf("%d of %d under tokens: %v, want %v", c.viewer, c.event, got, c.tokens)
		}
	}
}

func TestFactory(t *testing.T) {
	var f branch.Factory
	groups := f.Fork(nil, 2)
	first, second := f.Fork(groups[0], 3), f.Fork(groups[1], 3)
	reducer := branch.JoinSets(append(first, groups[0])...)
	all := branch.JoinSets(slices.Concat(groups, first, second)...)
	if !slices.Equal(reducer, branch.Set{1, 3, 4, 5}) || !slices.Equal(all, branch.Set{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("reducers have %v and %v", reducer, all)
	}
	if !slices.Equal(first[1], branch.Set{1, 4}) || !slices.Equal(second[2], branch.Set{2, 8}) {
		t.Errorf("children have %v and %v", first, second)
	}
	f.Reset()
	if again := f.Fork(branch.Set{}, 1); !slices.Equal(again[0], branch.Set{1}) {
		t.Errorf("after a reset the first token is %v", again[0])
	}
}

func TestSets(t *testing.T) {
	if got := branch.JoinSets(branch.Set{0}, branch.Set{0, 1}, branch.Set{0, 2}, branch.Set{0, 3}); !slices.Equal(got, branch.Set{0, 1, 2, 3}) {
		t.Errorf("joined %v", got)
	}
	if got := branch.JoinSets(); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %#v, want an empty set", got)
	}
	for _, c := range []struct {
		a, b            branch.Set
		contains, meets bool
	}{
		{nil, nil, true, false},
		{branch.Set{1}, nil, true, false},
		{nil, branch.Set{1}, false, false},
		{branch.Set{1, 2, 3}, branch.Set{1, 3}, true, true},
		{branch.Set{1, 3}, branch.Set{1, 2, 3}, false, true},
		{branch.Set{1, 3}, branch.Set{2, 4}, false, false},
	} {
		if c.a.Contains(c.b) != c.contains || c.a.Meets(c.b) != c.meets {
			t.Errorf("%v, %v: contains %t, meets %t", c.a, c.b, c.a.Contains(c.b), c.a.Meets(c.b))
		}
	}
}
