package cmd

import (
	"context"
	"iter"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/view"
)

// oneSession is a store of which only the tree of one session counts.
type oneSession struct {
	store.Store
	found view.Known
}

// findSession finds what --session means: an id, or the beginning of exactly
// one. Its errors are usage problems that name what may have been meant.
func findSession(ctx context.Context, st store.Store, word string) (oneSession, error) {
	search := view.Search{Name: word}
	for tree, err := range st.Trees(ctx) {
		if err != nil {
			return oneSession{}, err
		}
		search.Add(st.Facts().Path, tree)
	}
	search.End(st.Facts())
	found, err := search.Choose(word)
	return oneSession{st, found}, err
}

// Trees yields the tree that holds the session. A tree that the search kept is
// not read again, which in a stream would take as long as the check.
func (o oneSession) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		if o.found.Tree != nil {
			yield(o.found.Tree, nil)
			return
		}
		for tree, err := range o.Store.Trees(ctx) {
			if err != nil || tree.Session(o.found.ID) != nil {
				yield(tree, err)
				return
			}
		}
	}
}
