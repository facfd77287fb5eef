package rules_test

import (
	"context"
	"iter"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
)

// oneTree is a store that holds one tree.
type oneTree struct {
	facts *session.Store
	tree  *session.Tree
}

func (o oneTree) Facts() *session.Store                     { return o.facts }
func (o oneTree) Fill(context.Context, *session.Tree) error { return nil }
func (o oneTree) Close() error                              { return nil }
func (o oneTree) Trees(context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) { yield(o.tree, nil) }
}

// repaired is what the default repairs make of a tree, with the plan.
func repaired(t interface{ Fatalf(string, ...any) }, facts *session.Store, tree *session.Tree) (*session.Tree, *repair.Plan) {
	prologue := func(*session.Call) (string, []session.Item) {
		return "Transferred task", []session.Item{{Role: session.System}, {Role: session.User, Flags: session.Implicit}}
	}
	plan, _, err := repair.MakePlan(context.Background(), oneTree{facts, tree}, repair.Options{Prologue: prologue})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, planned := range plan.Trees {
		if tree, err = planned.Foresee(tree, prologue); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return tree, plan
}
