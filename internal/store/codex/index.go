package codex

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

// index is what state_*.sqlite says of threads, by their ids. Codex makes it anew from the rollouts,
// so that it is only read, and nothing is wrong where it cannot be.
type index struct{ titles, files, parents map[string]string }

// readIndex reads the newest generation of the index.
func readIndex(ctx context.Context, root *os.Root) index {
	x := index{map[string]string{}, map[string]string{}, map[string]string{}}
	names, _ := fs.Glob(root.FS(), "state_*.sqlite") // its one error is a bad pattern
	if len(names) == 0 {
		return x
	}
	newest := slices.MaxFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	db, err := sqlite.Open(ctx, filepath.Join(root.Name(), newest), sqlite.Options{})
	if err != nil {
		return x
	}
	defer func() { _ = db.Close() }()
	rows := db.Reader()
	_, _ = table.Glance(ctx, rows, "threads", []string{"id", "rollout_path", "title", "name"}, func(row []table.Value) {
		id := column.Text(row[0])
		x.titles[id], _, _ = strings.Cut(cmp.Or(column.Text(row[3]), column.Text(row[2])), "\n") // the first prompt
		x.files[id] = column.Text(row[1])
	})
	_, _ = table.Glance(ctx, rows, "thread_spawn_edges", []string{"child_thread_id", "parent_thread_id"}, func(row []table.Value) {
		x.parents[column.Text(row[0])] = column.Text(row[1])
	})
	return x
}

// findOrphans tells of the threads that have no rollout: Codex lists them, and cannot resume them.
func (x *index) findOrphans(stored map[string]*rollout) (faults []session.Fault) {
	for _, id := range slices.Sorted(maps.Keys(x.files)) {
		if stored[id] == nil {
			faults = append(faults, session.Fault{
				Kind: session.OrphanRecord, Item: -1, Field: "rollout_path", Ref: session.Ref{Session: id, Table: "threads", Key: id},
				Detail: fmt.Sprintf("the index lists thread %s, whose rollout %s does not exist; Codex cannot resume it", id, filepath.Base(x.files[id])),
			})
		}
	}
	return faults
}
