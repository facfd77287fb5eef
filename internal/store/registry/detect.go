package registry

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/sqlite"
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

// sureOf is how sure the adapter of a kind, "" for any, is about a path.
func sureOf(ctx context.Context, path, kind string) store.Confidence {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return store.No
	}
	_, sure := surest(ctx, &src.Source, kind)
	_ = src.close()
	return sure
}

// isStore reports whether some adapter knows the file. One that is locked or damaged
// counts: leaving it out would pass it over in silence.
func isStore(ctx context.Context, path string) bool {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return problem.ClassOf(err) == problem.Busy || IsDatabase(path)
	}
	_, sure := surest(ctx, &src.Source, "")
	_ = src.close()
	return sure != store.No
}

// isOther reports whether a file is sound and another program's: a database with tables
// that no adapter knows, or lines of JSON that were never meant for a stream.
func isOther(ctx context.Context, path string) bool {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return false
	}
	defer func() { _ = src.close() }()
	if _, sure := surest(ctx, &src.Source, ""); sure != store.No {
		return false
	}
	if src.DB == nil {
		return canonical.Foreign(&src.Source)
	}
	db := sqlite.Of(src.DB)
	columns, err := db.Columns(ctx)
	return err == nil && len(columns) > 0 && db.Damaged() == nil
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
	db := sqlite.Of(src.DB)
	if err := db.Damaged(); err != nil {
		return err
	}
	columns, err := db.Columns(ctx)
	if err != nil {
		return err
	}
	tables := slices.Sorted(maps.Keys(columns))
	file := db.File
	withoutLog := file.Header.WAL && file.WAL <= 0
	if len(tables) == 0 && withoutLog {
		return problem.New(problem.Unreadable, copyBoth,
			"%s has no table: most of it is in the log that was left behind (%s-wal), or nothing was ever written to it", src.Path, filepath.Base(src.Path))
	}
	if len(tables) == 0 {
		return problem.New(problem.Unreadable, next, "%s is a SQLite database without any table", src.Path)
	}
	const most = 6
	what := strings.Join(tables[:min(len(tables), most)], ", ")
	if more := len(tables) - most; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	if withoutLog {
		next += " If it was copied without its -wal, tables may be missing: " + copyBoth
	}
	return problem.New(problem.Unreadable, next, "%s is a SQLite database of another program (tables %s)", src.Path, what)
}

// copyBoth is what to do about a copy without its log. That it is one shows only where
// nothing was folded into the database yet; a sound database without a log looks the same.
const copyBoth = "Copy the database once more together with its -wal, or let `sqlite3 ORIGINAL \".backup COPY\"` write the copy."
