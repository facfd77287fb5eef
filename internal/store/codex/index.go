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

// tellDoubled tells of rollouts with one thread id, of which Codex resumes the one that its index names, or
// else any (find_thread_path_by_id_str in codex-rs/rollout/src/list.rs). It can be in two files of which one
// continues the other (openai/codex#31433).
func (c *codex) tellDoubled() {
	threads := map[string][]*rollout{}
	for _, r := range c.list {
		threads[r.ID] = append(threads[r.ID], r)
	}
	for id, all := range threads {
		resumed := slices.IndexFunc(all, func(r *rollout) bool {
			return strings.HasSuffix(filepath.ToSlash(c.index.files[id]), "/"+plain(r.name))
		})
		known := resumed >= 0
		for i, r := range all {
			if i == max(resumed, 0) || slices.ContainsFunc(all, func(o *rollout) bool { return o.Base != nil && c.byID[o.Base.Thread] == r }) {
				continue
			}
			f := session.Fault{Kind: session.Misplaced, Item: -1, Harmless: !known, Ref: session.Ref{Session: r.id, Table: session.TableSessions, Key: r.id}}
			if other := all[max(resumed, 0)].name; known {
				f.Detail = fmt.Sprintf("Codex does not find this session: %s has the thread id %s, too, and its index names that file", other, id)
				f.Remedy = "move " + other + " elsewhere to resume this one"
			} else {
				f.Detail = fmt.Sprintf("%s has the thread id %s, too, and no index says which of them Codex resumes", other, id)
			}
			r.apart = &f
		}
	}
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
