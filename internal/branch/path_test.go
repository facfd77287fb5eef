package branch_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/branch"
)

// pathCase is what Path says of one event; "" stands for no branch.
type pathCase struct {
	event, viewer string
	reason        branch.Reason
}

func checkPaths(t *testing.T, model branch.Model, cases []pathCase) {
	t.Helper()
	shown := map[branch.Reason]bool{branch.Root: true, branch.Unbranched: true, branch.Own: true, branch.Ancestor: true}
	for _, c := range cases {
		visible, reason := model.Visible(branch.Viewer{Label: c.viewer}, branch.Event{Label: c.event})
		if visible != shown[c.reason] || reason != c.reason {
			t.Errorf("event %q, viewer %q: %t, %s; want %t, %s", c.event, c.viewer, visible, reason, shown[c.reason], c.reason)
		}
	}
}

// The table of the documentation of Spring AI Session, and its upstream tests
// (EventFilterBranchTests, JdbcSessionRepositoryTests, SessionMemoryIT).
func TestPathOfSpringAISession(t *testing.T) {
	checkPaths(t, branch.Path{}, []pathCase{
		{"", "", branch.Root},
		{"orch", "", branch.Unbranched},
		{"orch.researcher", "", branch.Unbranched},
		{"", "orch.researcher", branch.Root},
		{"orch", "orch.researcher", branch.Ancestor},
		{"orch.researcher", "orch.researcher", branch.Own},
		{"orch.writer", "orch.researcher", branch.Sibling},
		{"orch.researcher.summarizer", "orch.researcher", branch.Child},
		{"orch", "orch.researcher.summarizer", branch.Ancestor},
		{"orch.researcher", "orch.researcher.summarizer", branch.Ancestor},
		{"orch.researcher.summarizer", "orch.researcher.summarizer", branch.Own},
		{"orch", "orchestra.researcher", branch.Unrelated},
		{"orchestra", "orchestra.researcher", branch.Ancestor},
		{"", "a.b", branch.Root},
		{"a.b", "a.b", branch.Own},
		{"", "orch.writer", branch.Root},
		{"orch.writer", "orch.writer", branch.Own},
		{"orch.researcher", "orch.writer", branch.Sibling},
		{"orch", "orch.researcher.sub", branch.Ancestor},
		{"orch.researcher", "orch.researcher.sub", branch.Ancestor},
	})
}

// Four rows of that reader's odd cases are left out, which tell an empty branch from
// none ("" for x and .x, a and none for ""): here "" is none.
func TestPathOfOddLabels(t *testing.T) {
	checkPaths(t, branch.Path{}, []pathCase{
		{"a", "a.b.c.d", branch.Ancestor},
		{"a.b", "a.bc", branch.Sibling},
		{"a.b.", "a.b", branch.Child},
		{"a.b", "a.b.", branch.Ancestor},
		{".x", ".x", branch.Own},
		{".x", ".y", branch.Sibling},
		{".x", "x", branch.Unrelated},
		{"Orch", "orch.x", branch.Unrelated},
		{"orch", "Orch", branch.Unrelated},
		{"a_b", "aXb.c", branch.Unrelated},
		{"a%", "abc.d", branch.Unrelated},
		{`a\b`, `a\b.c`, branch.Ancestor},
		{"orch ", "orch.r", branch.Unrelated},
		{"p1.a", "p2.d", branch.Unrelated},
		{"fin.g1.abc.a", "fin.g2.def.d", branch.Sibling},
		{`{"tokens":[1]}`, `{"tokens":[1]}.a`, branch.Ancestor},
		{`{"tokens": []}`, "a", branch.Root},
		{"a", `{"active_forks":{}}`, branch.Unbranched},
	})
}

func TestPathOfLists(t *testing.T) {
	none, researcher, writer := "", "orch.researcher", "orch.writer"
	for _, c := range []struct {
		events []string
		viewer string
		want   int
	}{
		{[]string{none, "orch", researcher, writer}, researcher, 3},
		{[]string{researcher, writer, "orch.researcher.summarizer"}, researcher, 1},
		{[]string{none, none, writer}, researcher, 2},
		{[]string{none, researcher, researcher, writer, writer}, researcher, 3},
		{[]string{none, researcher, researcher, writer, writer}, writer, 3},
		{[]string{"orch", researcher}, "orch.researcher.sub", 2},
		{[]string{none, "a.b"}, "a.b", 2},
		{[]string{none, writer, researcher}, researcher, 2},
	} {
		got := 0
		for _, e := range c.events {
			if visible, _ := (branch.Path{}).Visible(branch.Viewer{Label: c.viewer}, branch.Event{Label: e}); visible {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%q sees %d of %q, want %d", c.viewer, got, c.events, c.want)
		}
	}
}

func TestToolRunsAreHidden(t *testing.T) {
	checkPaths(t, branch.Path{HidesToolRuns: true}, []pathCase{
		{"tr@adk-24fb", "", branch.Child},
		{"p.a.tr@call_1.sub", "", branch.Child},
		{"p.a.tr@call_1", "p.a", branch.Child},
		{"p.a.tr@call_1", "p.a.tr@call_1", branch.Own},
		{"p.a.tr@call_1", "p.a.tr@call_1.sub", branch.Ancestor},
		{"p.a", "p.a.tr@call_1", branch.Ancestor},
		{"", "tr@call_1", branch.Root},
		{"node@1", "", branch.Unbranched},
		{"@call_1", "", branch.Unbranched},
		{"tr@", "", branch.Unbranched},
		{"p.a", "", branch.Unbranched},
	})
	checkPaths(t, branch.Path{}, []pathCase{{"tr@adk-24fb", "", branch.Unbranched}})
}

func TestRawPrefixShowsMore(t *testing.T) {
	for _, c := range []struct {
		event, viewer string
		visible       bool
		reason        branch.Reason
	}{
		{"root.agent_1", "root.agent_10", true, branch.Sibling},
		{"root.agent_10", "root.agent_1", false, branch.Sibling},
		{"par.subagent-1", "par.subagent-10", true, branch.Sibling},
		{"parent_agent.child", "parent_agent.child_agent", true, branch.Sibling},
		{"agent_1", "agent_10", true, branch.Unrelated},
		{"orch", "orchestra.researcher", true, branch.Unrelated},
		{"a.b.", "a.b", false, branch.Child},
		{"a", "a.b", true, branch.Ancestor},
		{"a.b", "a.b", true, branch.Own},
		{"", "a.b", true, branch.Root},
		{"a.b", "", true, branch.Unbranched},
		{"a", "b", false, branch.Unrelated},
	} {
		visible, reason := branch.RawPrefix{}.Visible(branch.Viewer{Label: c.viewer}, branch.Event{Label: c.event})
		if visible != c.visible || reason != c.reason {
			t.Errorf("event %q, viewer %q: %t, %s; want %t, %s", c.event, c.viewer, visible, reason, c.visible, c.reason)
		}
	}
}

func TestCommonPrefix(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   string
	}{
		{nil, ""},
		{[]string{"a.b.c"}, "a.b.c"},
		{[]string{""}, ""},
		{[]string{"a.b", "", "a.b.c"}, ""},
		{[]string{"a.b", "a.c"}, "a"},
		{[]string{"a", "ab"}, ""},
		{[]string{"a.b", "a.b.c.d"}, "a.b"},
		{[]string{"a.b.c.d", "a.b"}, "a.b"},
		{[]string{"a.b.x", "a.b.y", "a.b.z.w"}, "a.b"},
		{[]string{"a.b.c", "x.b.c"}, ""},
	} {
		if got := branch.CommonPrefix(c.labels...); got != c.want {
			t.Errorf("common prefix of %q: %q, want %q", c.labels, got, c.want)
		}
	}
}
