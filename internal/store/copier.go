package store

import "context"

// Copier is a store that can write a copy of itself into a new file, as it was
// when it was opened: what a repair into another file starts from.
type Copier interface {
	Copy(ctx context.Context, path string, progress func(done int64)) (*Source, error)
}
