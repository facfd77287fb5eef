package cmd

import (
	"context"
	"iter"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// part is a store of which only some trees count.
type part struct {
	store.Store
	heads  func(heads *session.Tree, newest time.Time) bool // see store.Picker
	counts func(*session.Tree) bool
}

// Trees yields the trees that count.
func (p part) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for tree, err := range pickTrees(ctx, p.Store, p.heads) {
			if err == nil && !p.counts(tree) {
				continue
			}
			if !yield(tree, err) {
				return
			}
		}
	}
}

// pickerOf is a store as one that can leave out trees, nil where it cannot.
func pickerOf(st store.Store) store.Picker {
	if opened, ok := st.(*registry.Opened); ok {
		st = opened.Store
	}
	picker, _ := st.(store.Picker)
	return picker
}

// pickTrees yields the trees of a store, without those that it can leave out unread.
func pickTrees(ctx context.Context, st store.Store, keep func(heads *session.Tree, newest time.Time) bool) iter.Seq2[*session.Tree, error] {
	if picker := pickerOf(st); picker != nil {
		return picker.Pick(ctx, keep)
	}
	return st.Trees(ctx)
}

// hasSession are the heads of the tree with a session of this id.
func hasSession(id string) func(*session.Tree, time.Time) bool {
	return func(heads *session.Tree, _ time.Time) bool { return heads.Session(id) != nil }
}
