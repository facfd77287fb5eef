package repair

import (
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// byRoot reads all trees of a store, by the id of their roots.
func byRoot(ctx context.Context, st store.Store) (map[string]*session.Tree, error) {
	trees := map[string]*session.Tree{}
	for t, err := range st.Trees(ctx) {
		if err != nil {
			return nil, err
		}
		trees[t.Root().ID] = t
	}
	return trees, nil
}

// byID reads all trees of a store, by the ids of all their sessions.
func byID(ctx context.Context, st store.Store) (map[string]*session.Tree, error) {
	trees := map[string]*session.Tree{}
	for t, err := range st.Trees(ctx) {
		if err != nil {
			return nil, err
		}
		for _, s := range t.Sessions {
			trees[s.ID] = t
		}
	}
	return trees, nil
}

// related is a tree that a repair changed, with what its items say of each other as
// the store would read it.
func related(st store.Store, tree *session.Tree) *session.Tree {
	if r, ok := st.(store.Relater); ok {
		r.Relate(tree)
	}
	return tree
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func parseWriter(name string) session.Writer {
	for _, w := range []session.Writer{session.WriterLive, session.WriterDead} {
		if w.String() == name {
			return w
		}
	}
	return session.WriterUnknown
}

// textOrBytes is a stored record for a JSON file: as text where it can be one.
func textOrBytes(body *session.Body) (text string, bytes []byte) {
	raw := body.Raw
	if len(raw) == 0 {
		raw = []byte(body.Text)
	}
	if utf8.Valid(raw) {
		return string(raw), nil
	}
	return "", raw
}
