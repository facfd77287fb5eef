package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

func TestBorders(t *testing.T) {
	tests := []struct {
		name, tree, want string
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
			store := &session.Store{Writer: session.WriterDead, ChildrenClosed: true}
			chosen, err := rules.Select([]string{"SC101", "SC701", "SC702"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := check.Tree(store, tree, chosen, rules.Judge{})
			v := view.Borders(view.Input{Store: store, Tree: tree, Findings: found, Session: "P"})
			want := strings.Join(strings.FieldsFunc(strings.ReplaceAll(tt.want, "\t", ""), func(r rune) bool { return r == '\n' }), "\n")
			if diff := cmp.Diff(want, bordersText(v)); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
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
