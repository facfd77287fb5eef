package store

import "context"

// Summer is a store that can be held against what it was: see Sum. Every store
// that can be repaired is one.
type Summer interface {
	Sums(ctx context.Context, sessions []string) (map[string]Sum, error)
}
