package store

import "context"

// Summer is a store that can be held against what it was: see Sum. Every store
// that can be repaired is one. An error because a part of the store cannot be read is a
// problem of class Unreadable.
type Summer interface {
	Sums(ctx context.Context, sessions []string) (map[string]Sum, error)
}
