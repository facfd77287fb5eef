package check_test

import (
	"context"
	"iter"

	"github.com/sessctl/sessctl/internal/session"
)

// memory is a store of trees in memory.
type memory struct {
	facts session.Store
	trees []*session.Tree
	fails error // after the last tree
}

func (m *memory) Facts() *session.Store                     { return &m.facts }
func (m *memory) Fill(context.Context, *session.Tree) error { return nil }
func (m *memory) Close() error                              { return nil }
func (m *memory) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for _, tree := range m.trees {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(tree, nil) {
				return
			}
		}
		if m.fails != nil {
			yield(nil, m.fails)
		}
	}
}
