// Package kagent reads and repairs the databases of kagent (kagent-dev/kagent) as
// SQLite files: with the columns that its controller gave them up to 0.8.0-beta7,
// and with those that its PostgreSQL tables have now. The facts about the format
// are from the notes named kagent.md in the design: a letter or a number like K8 in
// a comment is a section or a case of them.
//
// A session is one conversation with one agent. An agent that asks another one
// calls a tool; the worker's session is a row like any other, and the call's result
// names it. Agents on ADK store its events, which package adk decodes.
package kagent

import (
	"context"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

const (
	kindName  = "kagent"
	kindTitle = "kagent"
)

// Kind is kagent's row in the table of adapters. Its database was in a volume of a
// pod, so there is no place to look for it.
var Kind = store.Kind{
	Name:   kindName,
	Title:  kindTitle,
	Detect: detect,
	Open:   open,
	Edit: func(ctx context.Context, src *store.Source) (store.Editor, error) {
		return eventlog.Edit(ctx, src, reread)
	},
	Prologue: prologue,
}

func detect(ctx context.Context, src *store.Source) store.Detection {
	if src.DB == nil {
		return store.Detection{}
	}
	stored, err := src.DB.Schema(ctx)
	if err != nil {
		return store.Detection{}
	}
	s := schema{stored}
	switch {
	case s.isBaseline():
		return store.Detection{Sure: store.Certain, Generation: "1.0", Why: "table " + tableHistory}
	case !s.Has(tableSessions, "id", "user_id", "agent_id") || !s.Has(tableEvents, "id", "user_id", "session_id", "data"):
		return store.Detection{}
	case s.Has(tableTasks, "id", "session_id", "data"):
		return store.Detection{Sure: store.Certain, Generation: s.generation(), Why: "tables session, event and task"}
	}
	return store.Detection{Sure: store.Maybe, Generation: s.generation(), Why: "tables session and event, but no table task"}
}

// open reads everything but texts. What it reads is shown to people, so that the
// headers of requests are taken out of records.
func open(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	facts, r, err := newReader(ctx, src.DB)
	if err != nil {
		return nil, err
	}
	r.redacts = true
	layout := r.layout()
	layout.Prepare = nil // it was, just now
	return eventlog.Open{DB: src.DB, Facts: facts, Layout: layout, Progress: opts.Progress, Deep: opts.Deep}.Store(ctx)
}

// prologue is the name that a session gets from its first request: the first 20
// characters (b3). It starts with what the worker itself stores.
func prologue(call *session.Call) (title string, _ []session.Item) {
	const longest = 20
	title = requestOf([]byte(call.Args))
	if characters := []rune(title); len(characters) > longest {
		title = string(characters[:longest]) + "..."
	}
	return title, nil
}
