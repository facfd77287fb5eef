package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

func TestBorders(t *testing.T) {
	tests := []struct {
		name, tree, want string
		tweak            func(*session.Tree)
	}{
		{
			name: "a goal, an answer, and nothing besides",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  user implicit
  worker "done"`,
			want: `P.1 T1 asks worker in C: given 0,1, came back 3 as answer`,
		},
		{
			name: "a leak crosses the border of its call only",
			tree: `
P
  user
  root T1>alpha(a) T2>beta(b)
  alpha "x"
  sub A
  root <T1 "x"
  sub B
  root <T2 "y"
A<P
  system(a)
  alpha "x"
B<P
  system(b)
  beta "y"`,
			want: `
				P.1 T1 asks alpha in A: given 0, came back 4 as answer, besides SC701
				P.1 T2 asks beta in B: given 0, came back 6 as answer`,
		},
		{
			name: "an error, no result, a child that nobody stored, and one below",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1! "it failed"
  root T2>other(more)
C<P
  system(do it)
  worker W1>grand(deep)
  sub D
  worker <W1 "deep"
D<C
  user "deep"
  grand "deep"`,
			want: `
				P.1 T1 asks worker in C: given 0, came back 3
				P.4 T2 asks other: nothing came back, besides SC101
				C.1 W1 asks grand in D: given 0, came back 3 as answer`,
		},
		{
			name: "a result that waited, and the one behind the approval",
			tree: `
P
  user
  root T1>worker(do it)=C
  root <T1? "waiting"
  root a1:ask()
  root <T1 "done"
C<P
  user "do it"
  worker "done"`,
			want: `P.1 T1 asks worker in C: given 0, came back 4 as answer`,
		},
		{
			name: "a child that calls share: by run, by the only request, not to be told",
			tree: `
P
  user
  root T1>worker(one)=C T2>worker(two)=C T3>worker(two)=C T4>worker(four)=C
  root <T1 <T2 <T3 <T4 "done"
C<P
  user "four" run=r4
  user "two" run=r2
  user "two" run=r3
  user "one"
  worker "done" run=r4`,
			tweak: func(tree *session.Tree) {
				tree.Session("C").Runs = []session.Run{{ID: "task-2", Invocation: "r2"}}
				tree.Root().Items[1].Calls[1].Delegation.Run = "task-2"
			},
			want: `
				P.1 T1 asks worker in C: given 3, came back 2
				P.1 T2 asks worker in C: given 1, came back 2
				P.1 T3 asks worker in C: given , came back 2
				P.1 T4 asks worker in C: given 0, came back 2 as answer`,
		},
		{
			name: "a session without delegations",
			tree: `
P
  user
  root "fine"`,
			want: ``,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := treetest.Tree(t, tt.tree)
			if tt.tweak != nil {
				tt.tweak(tree)
			}
			store := &session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}
			chosen, err := catalogue.SelectRules([]string{"SC101", "SC701", "SC702"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := check.RunTree(store, tree, chosen, rules.Judge{})
			v := view.BuildBorders(view.Input{Store: store, Tree: tree, Findings: found, Session: "P"})
			want := strings.Join(strings.FieldsFunc(strings.ReplaceAll(tt.want, "\t", ""), func(r rune) bool { return r == '\n' }), "\n")
			if diff := cmp.Diff(want, bordersText(v)); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// Of a call that does not word its task, the child's request is the goal, where a digest
// says so.
func TestGoalOfBorders(t *testing.T) {
	for name, tc := range map[string]struct {
		tweak func(call *session.Call, child *session.Session)
		want  string
	}{
		"the call words it": {func(*session.Call, *session.Session) {}, "do it"},
		"the call has its digest": {func(c *session.Call, _ *session.Session) {
			c.Args, c.Delegation.Task = `{"child_id":"C"}`, session.DigestOf("Do it, please.")
		}, "Do it, please."},
		"the child has it": {func(c *session.Call, child *session.Session) {
			c.Args, c.Delegation.Task, child.Task = "{}", 0, session.DigestOf("Do it, please.")
		}, "Do it, please."},
		"another one": {func(c *session.Call, _ *session.Session) {
			c.Args, c.Delegation.Task = "{}", session.DigestOf("Do that.")
		}, ""},
		"nobody has one": {func(c *session.Call, child *session.Session) { c.Args, c.Delegation.Task, child.Task = "{}", 0, 0 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := treetest.Tree(t, `
P
  user
  root T1>worker(do it)=C
C<P
  system "be kind"
  user "Do it, please."`)
			call := &tree.Root().Items[1].Calls[0]
			call.Args = `{"task":"do it"}`
			tc.tweak(call, tree.Session("C"))
			v := view.BuildBorders(view.Input{Store: &session.Store{}, Tree: tree, Session: "P"})
			if got := v.Borders[0].Goal; got != tc.want {
				t.Errorf("goal %q, want %q", got, tc.want)
			}
		})
	}
}

func bordersText(v *view.View) string {
	var lines []string
	for _, b := range v.Borders {
		line := fmt.Sprintf("%s.%d %s asks %s", b.Caller.ID, b.Item, b.Call.ID, b.Agent)
		if b.Child != nil {
			given := strings.Trim(strings.ReplaceAll(fmt.Sprint(b.Given), " ", ","), "[]")
			line += fmt.Sprintf(" in %s: given %s,", b.Child.ID, given)
		} else {
			line += ":"
		}
		if b.Out == nil {
			line += " nothing came back"
		} else if line += fmt.Sprintf(" came back %d", b.Out.Item); b.Out.Answer {
			line += " as answer"
		}
		for _, f := range b.Crossed {
			line += ", besides " + f.Rule.ID
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
