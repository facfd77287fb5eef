package cmd

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/ui"
)

// refusal is why the store cannot be repaired in place, nil if it can.
func (r *repairRun) refusal() error {
	name := r.facts.Path
	refuse := func(why string) error {
		instead := r.instead()
		return problem.New(problem.Unreadable, "Use `"+instead.Line+"` to "+instead.Why+".", "%s cannot be repaired in place: %s", name, why)
	}
	switch {
	case r.facts.ReadOnly != "":
		return refuse(r.facts.ReadOnly)
	case r.kind.Edit == nil:
		return refuse("it is a " + r.kind.Title)
	case r.facts.Writer == session.WriterLive:
		return problem.New(problem.Busy, "Nothing was changed. Close it and try again.",
			"%s is in use: %s has it open", name, cmp.Or(r.facts.WriterName, "another process"))
	case r.incomplete != "":
		if r.recovery == "" {
			return refuse(r.incomplete)
		}
		return problem.New(problem.Unreadable, ui.Sentence(r.recovery),
			"%s is not repaired, because it is damaged, and writing to it could destroy what can still be saved: %s", name, r.incomplete)
	}
	return nil
}

// instead is what to type for a store that cannot be repaired in place as it is.
func (r *repairRun) instead() render.Command {
	switch {
	case !r.copyable():
		line := "sessctl export " + shell.Path(r.path) + " --output " + shell.Path(r.streamName())
		return render.Command{Line: line, Why: "write a stream, which can be repaired"}
	case r.kind.Edit != nil && r.facts.Writer == session.WriterLive:
		return r.again("carry this out when the store is closed")
	}
	return r.again("write a repaired copy", "--output", r.copyName())
}

// copyable reports whether a copy of the store can be repaired.
func (r *repairRun) copyable() bool {
	return r.kind.Rewrite != nil || r.kind.Edit != nil && r.facts.ReadOnly == ""
}

// streamName is a name for a stream of the store, beside it.
func (r *repairRun) streamName() string {
	if !r.kind.Folder {
		return strings.TrimSuffix(r.path, filepath.Ext(r.path)) + ".ndjson"
	}
	path := filepath.Clean(r.path)
	if base := filepath.Base(path); base == "." || base == ".." {
		if full, err := filepath.Abs(path); err == nil {
			path = full
		}
	}
	return path + ".ndjson"
}

// copyName is a name for a repaired copy.
func (r *repairRun) copyName() string {
	if r.path == "-" {
		return "repaired.ndjson"
	}
	ending := filepath.Ext(r.path)
	return strings.TrimSuffix(r.path, ending) + ".repaired" + ending
}
