package registry

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// Glance is what a store tells before it is read.
type Glance struct {
	Writer     session.Writer // of a database in a file
	WriterName string
	Marks      map[string]string // see store.Kind
	Loose      bool              // a session may have changed although its mark did not
}

// GlanceAt looks at a store without reading it. One on a server tells nothing.
func GlanceAt(ctx context.Context, path, kind string) (seen Glance, err error) {
	if OnServer(path) {
		return seen, nil
	}
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return seen, err
	}
	defer func() { err = errors.Join(err, src.closeFiles()) }()
	known, err := detectKind(ctx, &src.Source, kind)
	if err != nil {
		return seen, err
	}
	if db := sqlite.FromReader(src.DB); db != nil {
		seen.Writer, seen.WriterName, seen.Loose = db.Writer.State, db.Writer.Name, true
	}
	if known.Marks != nil {
		seen.Marks, err = known.Marks(ctx, &src.Source)
	}
	return seen, err
}
