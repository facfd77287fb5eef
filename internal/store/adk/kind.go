// Package adk reads the databases that Google's Agent Development Kit keeps its
// sessions in: those of adk-python's DatabaseSessionService and SqliteSessionService
// and of adk-go's database service. The facts about the formats are from the notes
// named adk.md in the design; a number like 1.4 in a comment is a section of them.
package adk

import (
	"context"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

const (
	kindName  = "adk"
	kindTitle = "Google ADK"
)

// Kind is ADK's row in the table of adapters. ADK has no default place: every
// application names its own database.
var Kind = store.Kind{
	Name:   kindName,
	Title:  kindTitle,
	Detect: detect,
	Open:   open,
	Edit:   openEdit,
}

func detect(ctx context.Context, src *store.Source) store.Detection {
	if src.DB == nil {
		return store.Detection{}
	}
	schema, err := src.DB.Schema(ctx)
	if err != nil {
		return store.Detection{}
	}
	gen := generationOf(ctx, src.DB, schema)
	if gen == "" {
		return store.Detection{}
	}
	return store.Detection{Sure: store.Certain, Generation: string(gen), Why: "tables sessions and events in the form of " + traitsOf[gen].writer}
}

func open(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	facts, layout, err := newLayout(ctx, src.DB)
	if err != nil {
		return nil, err
	}
	return eventlog.Open{DB: src.DB, Facts: facts, Layout: layout, Progress: opts.Progress, Deep: opts.Deep}.Store(ctx)
}
