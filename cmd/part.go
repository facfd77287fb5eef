package cmd

import (
	"context"
	"iter"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// part is a store of which only some trees count.
type part struct {
	store.Store
	counts func(*session.Tree) bool
}

// Trees yields the trees that count.
func (p part) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for tree, err := range p.Store.Trees(ctx) {
			if err == nil && !p.counts(tree) {
				continue
			}
			if !yield(tree, err) {
				return
			}
		}
	}
}
