package dockeragent

import (
	"context"

	"github.com/sessctl/sessctl/internal/store"
)

// Sums implements store.Summer.
func (st *agentStore) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	found, err := sums(ctx, st.db, &st.schema, sessions, false)
	return found, st.db.Explain(err)
}

// Copy implements store.Copier.
func (st *agentStore) Copy(ctx context.Context, path string, progress func(done int64)) (*store.Source, error) {
	return &store.Source{Path: path}, st.db.Copy(ctx, path, progress)
}
