package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

// surest is the adapter that is surest about a source; name leaves only one to ask,
// "" all.
func surest(ctx context.Context, src *store.Source, name string) (kind store.Kind, best store.Confidence) {
	for _, k := range Kinds {
		if name != "" && k.Name != name {
			continue
		}
		if d := k.Detect(ctx, src); d.Sure > best {
			kind, best = k, d.Sure
		}
	}
	return kind, best
}

// detect is the adapter to use; name leaves only one to ask, "" all. The error says
// what the source is instead.
func detect(ctx context.Context, src *store.Source, name string) (store.Kind, error) {
	kind, best := surest(ctx, src, name)
	switch {
	case best != store.No:
		return kind, nil
	case name != "":
		return kind, problem.New(problem.Unreadable, "Leave --store out to let sessctl find out what it is.",
			"%s is no store of the kind %s", src.Path, name)
	}
	return kind, unknown(ctx, src)
}

// unknown says what a source is that no adapter knows.
func unknown(ctx context.Context, src *store.Source) error {
	var titles []string
	for _, k := range Kinds {
		titles = append(titles, k.Title)
	}
	next := "sessctl reads these kinds of stores: " + strings.Join(titles, ", ") + ". See `sessctl stores`."
	if src.Folder != nil {
		return problem.New(problem.Unreadable, next, "%s is a folder, and not one that a runtime keeps its sessions in", src.Path)
	}
	if src.DB == nil {
		return problem.New(problem.Unreadable, next, "%s is not a session store: its first line is no canonical header", src.Path)
	}
	if err := src.DB.Damaged(); err != nil {
		return err
	}
	columns, err := src.DB.Columns(ctx)
	if err != nil {
		return err
	}
	tables := slices.Sorted(maps.Keys(columns))
	if len(tables) == 0 {
		return problem.New(problem.Unreadable, next, "%s is a SQLite database without any table", src.Path)
	}
	const most = 6
	what := strings.Join(tables[:min(len(tables), most)], ", ")
	if more := len(tables) - most; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return problem.New(problem.Unreadable, next, "%s is a SQLite database of another program (tables %s)", src.Path, what)
}
