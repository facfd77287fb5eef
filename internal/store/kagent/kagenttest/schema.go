package kagenttest

import (
	_ "embed"
	"slices"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// Generation is which tables and columns a database has: the sections of schema.sql up
// to the one of its name.
type Generation string

// The generations. Current has the columns of PostgreSQL's migrations up to
// v0.10.0, as SQLite would have them.
const (
	V05     Generation = "v0.5.0"
	V07     Generation = "v0.7.19"
	Current Generation = "current"
)

//go:embed schema.sql
var schemaSQL string

func (g Generation) schema() []string {
	names := []string{string(V05), string(V07), string(Current)}
	return builder.Statements(builder.Sections(schemaSQL), names[:1+slices.Index(names, string(g))]...)
}
