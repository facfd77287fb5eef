// Package registry is the table of adapters, and finds out which of them a path
// is for. It is a package of its own because the adapters import the contract.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/kagent"
	"github.com/sessctl/sessctl/internal/store/loom"
	"github.com/sessctl/sessctl/internal/store/springai"
)

// Kinds are all adapters, in the order in which they are asked.
var Kinds = []store.Kind{
	dockeragent.Kind,
	adk.Kind,
	springai.Kind,
	kagent.Kind,
	loom.Kind,
	canonical.Kind,
}

// Names are the names of all kinds.
func Names() []string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = k.Name
	}
	return names
}

// Opened is an opened store with what it was opened from.
type Opened struct {
	store.Store
	Kind   store.Kind
	source *source
}

// Changed says what changed in the files while they were read without a lock, or
// that the path leads to another store now, "" when nothing did.
func (o *Opened) Changed() string { return o.source.changed() }

// Close ends the read and removes what it left in temporary folders.
func (o *Opened) Close() error { return errors.Join(o.Store.Close(), o.source.close()) }

// Open opens the store at path for reading; "-" is standard input. kind names
// the adapter to use, "" lets the content decide.
func Open(ctx context.Context, path, kind string, stdin io.Reader, opts store.Options) (*Opened, error) {
	src, err := openSource(ctx, path, stdin)
	if err != nil {
		return nil, err
	}
	o := &Opened{source: src}
	if o.Kind, err = detect(ctx, &src.Source, kind); err != nil {
		return nil, errors.Join(err, src.close())
	}
	if o.Store, err = o.Kind.Open(ctx, &src.Source, opts); err != nil {
		return nil, errors.Join(unreadable(path, err), src.close())
	}
	return o, nil
}

// unreadable makes sure that an adapter's error names the path.
func unreadable(path string, err error) error {
	if problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s could not be read: %v", path, err),
		Next: "Nothing was changed. Copy the file, with its -wal if there is one, before you try another program on it.",
	}
}
