package view_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// memory is a store of one tree.
type memory struct {
	facts session.Store
	tree  *session.Tree
}

func (m *memory) Facts() *session.Store                     { return &m.facts }
func (m *memory) Fill(context.Context, *session.Tree) error { return nil }
func (m *memory) Close() error                              { return nil }
func (m *memory) Trees(context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) { yield(m.tree, nil) }
}

// built is the view of a tree's root as docker agent's, with its request.
func built(t testing.TB, tree *session.Tree) *view.View {
	t.Helper()
	return builtFor(t, tree, rules.Judge{})
}

func builtFor(t testing.TB, tree *session.Tree, judge rules.Judge) *view.View {
	t.Helper()
	st := &memory{session.Store{
		Kind: "docker-agent", Title: "docker agent", Children: session.Children{ChildrenClosed: true}, Writer: session.WriterDead,
		Runtime: dockeragent.Runtime, Requests: session.Requests{Adapts: map[string]string{"SC401": "leaves blank messages out"}},
	}, tree}
	result, err := check.Run(context.Background(), st, check.Options{Rules: catalogue.UsualRules(), Judge: judge})
	if err != nil {
		t.Fatal(err)
	}
	return view.BuildView(view.Input{Store: &st.facts, Tree: tree, Findings: result.Findings, Session: tree.Root().ID, Request: true, Lanes: true, Judge: judge})
}

func TestCalls(t *testing.T) {
	tests := []struct{ name, args, label, about string }{
		{"shell", `{"cmd":"ls -l","cwd":"/"}`, "shell", "ls -l"},
		{"shell", `{}`, "shell", ""},
		{"shell", ``, "shell", ""},
		{"shell", `{"cmd":`, "shell", `{"cmd":`},
		{"shell", `["ls"]`, "shell", `["ls"]`},
		{"shell", `{"timeout":30,"cmd":"ls"}`, "shell", "30"},
		{"shell", `{"cmd":{"a":[1, 2]}}`, "shell", `{"a":[1, 2]}`},
		{"shell", `{"cmd":"a","cmd":"b"}`, "shell", "a"},
		{"", `{"a":"b"}`, "(a tool without a name)", "b"},
		{"handoff", `{"agent":"beta"}`, "handoff → beta", ""},
		{"handoff", `{"agent":"beta","why":"x"}`, "handoff → beta", ""},
		{"handoff", `{"to":"beta"}`, "handoff", "beta"},
		{"transfer_task", `{"agent":"worker","task":"do it","expected_output":"x"}`, "transfer_task → worker", "do it"},
		{"transfer_task", `{"agent":"worker"}`, "transfer_task → worker", ""},
		{"transfer_task", `broken`, "transfer_task", "broken"},
		{"run_skill", `{"name":"review","task":"look"}`, "run_skill", "look"},
		{"run_skill", `{"name":"review"}`, "run_skill", "review"},
		{"Agent", `{"subagent_type":"explore","prompt":"find it"}`, "Agent → explore", "find it"},
	}
	for _, tt := range tests {
		t.Run(tt.name+tt.args, func(t *testing.T) {
			tree := treetest.Tree(t, "P\n  user\n  root A()")
			call := &tree.Root().Items[1].Calls[0]
			call.Name, call.Args = tt.name, tt.args
			call.Delegation = session.DelegationFor(tt.name, tt.args)
			got := built(t, tree).Shown.Rows[1].Calls[0]
			if got.Label() != tt.label || got.About != tt.about {
				t.Errorf("%q %q, want %q %q", got.Label(), got.About, tt.label, tt.about)
			}
		})
	}
}

func TestOtherItems(t *testing.T) {
	tests := []struct{ raw, label, text string }{
		{`{"message":"all models failed","code":"model_error","agent_name":"root"}`, "the run failed: model error", "all models failed"},
		{`{"message":"it broke"}`, "the run failed", "it broke"},
		{`{"reason":"budget_exceeded","budget":"tokens","limit":10}`, "the run was ended: budget exceeded", ""},
		{`{"what":"ever"}`, "a record that is not sent to a model", ""},
		{`[1]`, "a record that is not sent to a model", ""},
		{``, "a record that is not sent to a model", ""},
	}
	for _, tt := range tests {
		tree := treetest.Tree(t, "P\n  other")
		tree.Root().Items[0].Body.Raw = []byte(tt.raw)
		row := built(t, tree).Shown.Rows[0]
		if row.Label != tt.label || row.Text != tt.text {
			t.Errorf("%s: %q %q", tt.raw, row.Label, row.Text)
		}
	}
	for _, f := range []session.Fault{
		{Kind: session.UnknownKind, Field: "hologram"},
		{Kind: session.Undecodable, Detail: "it ends in the middle"},
	} {
		tree := treetest.Tree(t, "P\n  other")
		tree.Root().Faults = []session.Fault{f}
		if label := built(t, tree).Shown.Rows[0].Label; !strings.HasSuffix(label, f.Field+f.Detail) {
			t.Errorf("%+v: %q", f, label)
		}
	}
}

func TestSummaryWords(t *testing.T) {
	tests := []struct{ tree, label, covered string }{
		{"P\n  summary \"s\"", "summary of nothing before it, 1 B", ""},
		{"P\n  user\n  summary \"s\"", "summary of item 0, 1 B", "Not sent: item 0, which the summary replaces."},
		{"P\n  user\n  user\n  summary \"s\"", "summary of items 0–1, 1 B", "Not sent: items 0–1, which the summary replaces."},
		{"P\n  user\n  user\n  user\n  summary \"s\" kept=2", "summary of items 0–1, 1 B", "Not sent: items 0–1, which the summary replaces."},
		{"P\n  user\n  other skipped\n  user\n  user\n  summary \"s\" kept=1", "summary of items 0–1, 1 B", "Not sent: items 0–1, which the summary replaces."},
		{"P\n  user\n  summary \"s\" kept=9", "summary of item 0, 1 B", "Not sent: item 0, which the summary replaces."},
		{"P\n  user\n  summary", "a summary without text", ""},
	}
	for _, tt := range tests {
		v := built(t, treetest.Tree(t, tt.tree))
		last := v.Shown.Rows[len(v.Shown.Rows)-1]
		if last.Label != tt.label || v.Request.Preface() != tt.covered {
			t.Errorf("%s: %q, %q", tt.tree, last.Label, v.Request.Preface())
		}
	}
}

// The pieces of a long sub-session are its beginning, its end, and what a
// finding marks.
func TestPieces(t *testing.T) {
	var notation strings.Builder
	notation.WriteString("P\n  user\n")
	for i := range 30 {
		fmt.Fprintf(&notation, "  root \"x\" A%d()\n  root <A%[1]d\n", i)
		if i == 14 {
			notation.WriteString("  root <nobody\n")
		}
	}
	notation.WriteString("  root \"done\"\n")
	s := built(t, treetest.Tree(t, notation.String())).Shown
	var got []int
	for _, p := range s.Pieces(true) {
		if p.Row == nil {
			got = append(got, -p.Hidden)
		} else {
			got = append(got, p.Row.Item)
		}
	}
	// 0 to 5 with the results folded into 1, 3 and 5; 31 is the orphan; 62 is
	// the last answer.
	if diff := cmp.Diff([]int{0, 1, 3, 5, -24, 31, -30, 62}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if whole := s.Pieces(false); len(whole) != 33 {
		t.Errorf("%d pieces of a whole view, want 33", len(whole))
	}
}

// Whatever a tree is like, every item is a row once, every session is drawn
// once at most, and the root's request names every item behind its start once.
func TestBuildAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		judge := rules.Judge{
			Profiles: []*rules.Profile{rapid.SampledFrom(rules.Profiles).Draw(rt, "profile")},
			AsIs:     rapid.Bool().Draw(rt, "as it is"),
		}
		for _, tree := range treetest.Trees(t, randomNotation(rt)) {
			checkView(rt, tree, builtFor(t, tree, judge))
		}
	})
}

func checkView(t *rapid.T, tree *session.Tree, v *view.View) {
	drawn := map[string]bool{}
	var walk func(s *view.Session)
	walk = func(s *view.Session) {
		if drawn[s.ID] {
			t.Fatalf("session %s is drawn twice", s.ID)
		}
		drawn[s.ID] = true
		next := 0
		for i := range s.Rows {
			r := &s.Rows[i]
			if r.Item >= 0 && r.Item != next {
				t.Fatalf("session %s: row of item %d where %d is expected", s.ID, r.Item, next)
			}
			if r.Item >= 0 {
				next++
			}
			if r.Child != nil {
				walk(r.Child)
			}
		}
		if next != len(s.Items) {
			t.Fatalf("session %s: %d of %d items are rows", s.ID, next, len(s.Items))
		}
	}
	walk(v.Shown)
	checkLanes(t, v)
	if v.Shown.Below != len(drawn)-1 {
		t.Fatalf("%d sub-sessions, %d drawn", v.Shown.Below, len(drawn)-1)
	}
	checkRequest(t, tree, v.Request)
}

// checkLanes checks that every item has a step, but for results that are shown with their
// calls, and every call too, but for those that are counted with another one.
func checkLanes(t *rapid.T, v *view.View) {
	names, steps, calls := map[string]bool{}, map[*view.Row]bool{}, 0
	for _, lane := range v.Lanes.List {
		if names[lane.Name] || lane.First > lane.Last {
			t.Fatalf("lane %+v", lane)
		}
		names[lane.Name] = true
	}
	for i, s := range v.Lanes.Steps {
		for _, n := range []int{s.Lane, s.To} {
			if lane := v.Lanes.List[n]; i < lane.First || lane.Last < i {
				t.Fatalf("step %d is not within lane %+v", i, lane)
			}
		}
		steps[s.Row] = true
		if s.Call != nil {
			calls += 1 + s.More
		}
	}
	var walk func(s *view.Session)
	walk = func(s *view.Session) {
		for i := range s.Rows {
			r := &s.Rows[i]
			switch {
			case r.Child != nil:
				walk(r.Child)
				continue
			case !steps[r] && !r.Folded && len(r.Calls) == 0:
				t.Fatalf("item %d of %s has no step", r.Item, s.ID)
			case r.Depth == 0:
				calls -= len(r.Calls)
			}
		}
	}
	if walk(v.Shown); calls != 0 {
		t.Fatalf("%d more calls in lanes than in the sessions", calls)
	}
}

func checkRequest(t *rapid.T, tree *session.Tree, r *view.Request) {
	if r.Masking != nil && r.FirstRefusal() == nil && r.Profile.Shape != rules.Flat {
		t.Fatalf("accepted, but masked: %+v", r.Masking)
	}
	item, last := tree.Root().RequestStart(), -1
	for _, p := range r.Parts {
		if p.Message >= 0 && p.Message != last && p.Message != last+1 {
			t.Fatalf("message %d behind %d", p.Message, last)
		}
		if p.Last < p.Message || p.Message < 0 && p.Last >= 0 {
			t.Fatalf("messages %d to %d", p.Message, p.Last)
		}
		last = max(last, p.Last)
		if p.Row.Item >= 0 {
			if p.Row.Item != item {
				t.Fatalf("item %d in the request where %d is expected", p.Row.Item, item)
			}
			item++
		}
	}
	if item != len(tree.Root().Items) {
		t.Fatalf("the request names items up to %d of %d", item, len(tree.Root().Items))
	}
}

// randomNotation is up to five sessions whose parents and references are
// anything, loops included.
func randomNotation(t *rapid.T) string {
	var b strings.Builder
	names := []string{"A", "B", "C", "D", "E"}
	lines := []string{
		"user", "user implicit", "root \"x\"", "root X()", "root X() Y()", "root <X", "root <Y!", "root <X~", "worker \"y\"",
		"root T>worker(do)", "root T>worker(do) X()", "root <T", "worker W()", "worker <W", "summary \"s\"", "summary \"s\" kept=2",
		"summary", "other", "other skipped", "system(do)", "root blank", "root unfinished", "user archived",
		"sub A", "sub B", "sub C", "sub D", "sub E", "sub gone",
	}
	for _, name := range names[:rapid.IntRange(1, 5).Draw(t, "sessions")] {
		b.WriteString(name)
		if rapid.Bool().Draw(t, "child") {
			b.WriteString("<" + rapid.SampledFrom(names).Draw(t, "parent"))
		}
		for _, line := range rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12).Draw(t, "items") {
			b.WriteString("\n  " + line)
		}
		b.WriteString("\n")
	}
	return b.String()
}
