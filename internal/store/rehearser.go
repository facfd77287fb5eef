package store

import "context"

// Rehearser is a Store that knows before anything is written whether its Editor can
// write a change. Nothing but a damaged file, or another writer, keeps it from that
// then.
type Rehearser interface {
	// Rehearse composes all that Editor.Write would write for a change of a tree of
	// the store, and writes nothing. Its error says what cannot be written, in a part
	// of a sentence for people.
	Rehearse(ctx context.Context, change *Change) error
}
