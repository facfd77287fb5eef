package rules_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestAResultUnderAnotherIDIsNotReplaced: nothing is made up for a call, and no result is
// taken out of the session, where the result of the one may be the other.
func TestAResultUnderAnotherIDIsNotReplaced(t *testing.T) {
	for _, tc := range []struct {
		name, tree string
		tools      []string // of the results, in their order
		want       []string
	}{
		{
			name: "two runs at the same time, and the second result has the first one's id",
			tree: "user \"one\" run=i1\n  user \"two\" run=i2\n  root a() run=i1\n  root b() run=i2\n  root <a \"1\" run=i1\n  root <a \"2\" run=i2\n  root \"x\" run=i1\n  root \"y\" run=i2",
			want: []string{"SC101 lossless with [guesses]: call P.5=b", "SC107 manual"},
		},
		{
			name: "the id of no call",
			tree: "user \"one\" run=i1\n  root a() run=i1\n  root <z \"1\" run=i1\n  root \"x\" run=i1",
			want: []string{"SC101 lossless with [guesses]: call P.2=a", "SC103 manual"},
		},
		{
			name: "two calls of one turn that have one result too many of one",
			tree: "user \"one\" run=i1\n  root a() b() run=i1\n  root <a \"1\" run=i1\n  root <a \"2\" run=i1\n  root \"x\" run=i1",
			want: []string{"SC101 lossless with [guesses]: call P.3=b", "SC107 manual"},
		},
		{
			name: "several may be meant",
			tree: "user \"one\" run=i1\n  root a() b() run=i1\n  root <z \"1\" run=i1\n  root \"x\" run=i1",
			want: []string{"SC101 manual", "SC101 manual", "SC103 manual"},
		},
		{
			name: "another tool's",
			tree: "user \"one\" run=i1\n  root a() run=i1\n  root <z \"1\" run=i1\n  root \"x\" run=i1", tools: []string{"read"},
			want: []string{"SC101 lossless: insert", "SC103 kept: quarantine"},
		},
		{
			name: "another run's",
			tree: "user \"one\" run=i1\n  user \"two\" run=i2\n  root a() run=i1\n  root <z \"1\" run=i2\n  root \"x\" run=i1",
			want: []string{"SC101 lossless: insert", "SC103 kept: quarantine"},
		},
		{
			name: "no runs are recorded",
			tree: "user \"one\"\n  root a()\n  root <z \"1\"\n  root \"x\"",
			want: []string{"SC101 lossless: insert", "SC103 kept: quarantine"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := treetest.Tree(t, "P\n  "+tc.tree)
			named := 0
			for i := range tree.Root().Items {
				for n := range tree.Root().Items[i].Results {
					r := &tree.Root().Items[i].Results[n]
					if r.Name = "shell"; named < len(tc.tools) {
						r.Name = tc.tools[named]
					}
					named++
				}
			}
			var got []string
			list := []*rules.Rule{catalogue.FindRule("SC101"), catalogue.FindRule("SC103"), catalogue.FindRule("SC106"), catalogue.FindRule("SC107")}
			for _, f := range findWith(list, &session.Store{Writer: session.WriterDead}, []*session.Tree{tree}, rules.Judge{}) {
				got = append(got, f.Rule.ID+" "+made(tree, f.Fixes[0]))
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// made says what a fix does: "lossless with [guesses]: call P.5=b".
func made(tree *session.Tree, fix rules.Fix) string {
	text := fix.Safety.String()
	if fix.Allow != nil {
		text += fmt.Sprint(" with ", fix.Allow)
	}
	for _, e := range fix.Edits {
		switch e.Op {
		case session.Set:
			at := e.Ref
			at.Pointer = ""
			for i := range tree.Root().Items {
				if tree.Root().ItemRef(i) == at {
					text += fmt.Sprintf(": %s P.%d=%s", e.Field, i, *e.Value)
				}
			}
		default:
			text += ": " + string(e.Op)
		}
	}
	return text
}
