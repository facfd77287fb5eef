package cmd

import (
	"context"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/view"
)

// findSession is the id of the session that --session means: an id, or the
// beginning of exactly one. Its errors are usage problems that name what may
// have been meant.
func findSession(ctx context.Context, st store.Store, word string) (string, error) {
	var known []view.Known
	for tree, err := range st.Trees(ctx) {
		if err != nil {
			return "", err
		}
		known = append(known, view.KnownOf(st.Facts().Path, tree)...)
	}
	found, err := view.Choose(known, word)
	return found.ID, err
}
