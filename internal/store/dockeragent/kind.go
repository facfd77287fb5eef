// Package dockeragent reads the session databases of docker agent (formerly
// cagent), every schema generation from the first to migration 030 and later ones as far as
// they are known, and repairs those from migration 014 on. The facts
// about the format are from the notes named docker-agent.md in the design; a
// number like 2.1 in a comment is a section of them.
package dockeragent

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

const (
	kindName  = "docker-agent"
	kindTitle = "docker agent"
)

// Children is what docker agent does with sub-sessions, whatever they are read from.
var Children = session.Children{ChildrenClosed: true, ChildPrologue: true}

// Runtime is what else it does, whatever its sessions are read from.
var Runtime = session.Runtime{
	Name:          kindTitle,
	NoOutput:      "(no output)",                                       // pkg/runtime/tool_dispatch.go
	OmittedOutput: "\n[...tool result truncated: middle omitted...]\n", // max_tool_result_tokens, since 2026-07-10
	BlankMessages: "docker agent drops blank messages since v1.52; before that, providers refuse them",
	// An error result goes behind every call that lacks one (docker/docker-agent#2377,
	// v1.44), and no result stays that answers no call of the message before it (#3001,
	// #3162, June 2026). Results stand directly behind their calls, and system messages
	// part nothing.
	Sanitiser: &session.Sanitiser{By: "docker agent since v1.44", Pairs: "anthropic", Result: "No result provided"},
}

// Kind is docker agent's row in the table of adapters.
var Kind = store.Kind{
	Name:      kindName,
	Title:     kindTitle,
	Locations: locations,
	Detect:    detect,
	Open:      open,
	Edit:      openEdit,
	Prologue:  prologue,
}

// locations are where `docker agent run` keeps its database: the data folder, which
// DOCKER_AGENT_DATA_DIR names since v1.147.0, and the home folder, which was the only one
// before v1.101.0, so that old sessions may still be there. `serve api` has it in the
// current folder (1.1).
func locations(home string) []string {
	var list []string
	if data := os.Getenv("DOCKER_AGENT_DATA_DIR"); data != "" {
		list = append(list, filepath.Join(data, "session.db"))
	}
	if home != "" {
		list = append(list, filepath.Join(home, ".cagent", "session.db"))
	}
	return slices.Compact(append(list, "session.db"))
}

// detect goes by tables and columns: a migrations table with docker agent's
// columns beside sessions, or the bare sessions table of the first versions.
func detect(ctx context.Context, src *store.Source) store.Detection {
	db := sqlite.Of(src.DB)
	if db == nil {
		return store.Detection{}
	}
	columns, err := db.Columns(ctx)
	if err != nil {
		return store.Detection{}
	}
	s := newSchema(columns)
	switch {
	case !s.has("sessions", "id") || !s.has("sessions", "created_at"):
		return store.Detection{}
	case s.has("migrations", "applied_at") && s.has("migrations", "description") && (s.has("session_items", "message_json") || s.has("sessions", "messages")):
		return store.Detection{Sure: store.Certain, Why: "tables sessions and migrations in docker agent's form"}
	case s.has("session_items", "message_json") && s.has("session_items", "item_type"):
		return store.Detection{Sure: store.Maybe, Why: "tables sessions and session_items, but no migrations"}
	case s.has("sessions", "messages") && !s.has("migrations", "id"):
		return store.Detection{Sure: store.Maybe, Why: "a sessions table with a messages column"}
	}
	return store.Detection{}
}
