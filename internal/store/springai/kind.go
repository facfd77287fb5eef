// Package springai reads and repairs the databases of Spring AI Session
// (spring-ai-community/spring-ai-session), as SQLite files with the columns that
// its scripts for other databases have. The facts about the format are from the
// notes named spring-ai-session.md in the design: a letter or a number like G12 in
// a comment is a section or a case of them. Releases are those of that project.
package springai

import (
	"context"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

const (
	kindName  = "spring-ai-session"
	kindTitle = "Spring AI Session"
)

// Kind is Spring AI Session's row in the table of adapters. It is a library
// within other programs, so there is no place to look for its database.
var Kind = store.Kind{
	Name:   kindName,
	Title:  kindTitle,
	Detect: detect,
	Open:   open,
	Edit: func(ctx context.Context, src *store.Source) (store.Editor, error) {
		return eventlog.Edit(ctx, src, reread)
	},
}

func detect(ctx context.Context, src *store.Source) store.Detection {
	if src.DB == nil {
		return store.Detection{}
	}
	stored, err := src.DB.Schema(ctx)
	if err != nil {
		return store.Detection{}
	}
	events, sessions := tableOf(stored, tableEvents), tableOf(stored, tableSessions)
	switch {
	case !events.has("id", "session_id", "message_type", "message_content") || !sessions.has("id"):
		return store.Detection{}
	case events.has("message_data", "synthetic") && sessions.has("user_id", "event_version"):
		return store.Detection{Sure: store.Certain, Why: "tables " + sessions.name + " and " + events.name}
	}
	return store.Detection{Sure: store.Maybe, Why: "table " + events.name + " with some of the columns"}
}

// open reads everything but texts.
func open(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	sc, err := readSchema(ctx, src.DB)
	if err != nil {
		return nil, err
	}
	facts := sc.facts()
	if opts.Deep {
		low, err := sc.lowVersions(ctx, src.DB)
		if err != nil {
			return nil, err
		}
		facts.Faults = append(facts.Faults, low...)
	}
	return eventlog.Open{DB: src.DB, Facts: facts, Layout: sc.layout(), Progress: opts.Progress, Deep: opts.Deep}.Store(ctx)
}
