package bench

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// repairs is how many sessions the measured repair mends.
const repairs = 1000

// repairTable measures what a repair costs others: for how long the database is
// locked, and the backup against a copy of the file. The database has the old
// messages column, which a repair writes anew; without it there is less to do.
func repairTable(out io.Writer, _, database string, rounds int) error {
	folder, err := os.MkdirTemp(filepath.Dir(database), "repair-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	damaged := filepath.Join(folder, "damaged.db")
	if err := copyFile(database, damaged); err != nil {
		return err
	}
	if err := execute(damaged, loseResults); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\n%d repairs, %d rounds, medians\n", repairs, rounds); err != nil {
		return err
	}
	if err := measureRepairs(out, "with the old column", damaged, rounds); err != nil {
		return err
	}
	if err := execute(damaged, dropColumn); err != nil {
		return err
	}
	return measureRepairs(out, "without it", damaged, rounds)
}

func measureRepairs(out io.Writer, name, damaged string, rounds int) error {
	var locks, longest, copies, backups []time.Duration
	for range rounds {
		start := time.Now()
		path := damaged + ".copy"
		if err := copyFile(damaged, path); err != nil {
			return err
		}
		copies = append(copies, time.Since(start))
		t, err := repairOnce(path)
		if err != nil {
			return err
		}
		locks, longest, backups = append(locks, t.locked), append(longest, t.longest), append(backups, t.backup)
		for _, suffix := range []string{"", ".backup", ".receipt.json"} {
			if err := os.Remove(path + suffix); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(out, "\n%-40s %8.2f s, the longest transaction %.2f s\n%-40s %8.2f s\n%-40s %8.2f s, ratio %.2f\n",
		"locked for writing, "+name, middle(locks).Seconds(), middle(longest).Seconds(),
		"cp and sync of the database", middle(copies).Seconds(),
		"backup", middle(backups).Seconds(), middle(backups).Seconds()/middle(copies).Seconds())
	return err
}

func middle(list []time.Duration) time.Duration {
	slices.SortFunc(list, cmp.Compare)
	return list[len(list)/2]
}

func copyFile(from, to string) error {
	if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// loseResults takes the first result out of many root sessions and closes the
// gap, so that a repair has to move everything behind it. The old column loses it, too:
// one that held more than the rows would be left as it is.
var loseResults = []string{
	`create temp table lost as select min(i.id) as id, i.session_id, i.position from session_items i join sessions s on s.id = i.session_id
		where s.parent_id is null and i.item_type = 'message' and substr(i.message_json, 1, 14) = '{"role":"tool"'
		group by i.session_id order by i.session_id limit ` + strconv.Itoa(repairs),
	`create unique index temp.lost_sessions on lost(session_id)`,
	`delete from session_items where id in (select id from lost)`,
	`update session_items set position = position - 1 where session_id in (select session_id from lost)
		and position > (select position from lost where lost.session_id = session_items.session_id)`,
	`update sessions set messages = json_remove(messages, '$[' || (select position from lost where session_id = sessions.id) || ']')
		where id in (select session_id from lost)`,
}

// dropColumn is what migrations 019 and 020 do.
var dropColumn = []string{
	`drop index idx_sessions_branch_parent`,
	`alter table sessions drop column branch_parent_session_id`,
	`alter table sessions drop column branch_parent_position`,
	`alter table sessions drop column branch_created_at`,
	`alter table sessions drop column split_diff_view`,
	`alter table sessions drop column messages`,
	`insert into migrations (id, name, description, applied_at)
		select 19, '019_drop_branch_and_split_diff_columns', '', max(applied_at) from migrations
		union all select 20, '020_drop_messages_column', '', max(applied_at) from migrations`,
	`vacuum`,
}

func execute(path string, statements []string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	return db.Close()
}

// timed is an editor that measures how long it keeps the store locked.
type timed struct {
	store.Editor
	since           time.Time
	locked, longest time.Duration
	backup          time.Duration
}

func (t *timed) Backup(ctx context.Context, path string, sessions []string, progress func(int64)) error {
	start := time.Now()
	defer func() { t.backup = time.Since(start) }()
	return t.Editor.Backup(ctx, path, sessions, progress)
}

func (t *timed) Begin(ctx context.Context) error {
	t.since = time.Now()
	return t.Editor.Begin(ctx)
}

func (t *timed) Commit(ctx context.Context) error {
	err := t.Editor.Commit(ctx)
	took := time.Since(t.since)
	t.locked += took
	t.longest = max(t.longest, took)
	return err
}

func repairOnce(path string) (*timed, error) {
	ctx := context.Background()
	opened, err := registry.Open(ctx, path, "", nil, store.Options{})
	if err != nil {
		return nil, err
	}
	kind := opened.Kind
	plan, _, err := repair.MakePlan(ctx, opened.Store, repair.Options{Prologue: kind.Prologue})
	if err = errors.Join(err, opened.Close()); err != nil {
		return nil, err
	}
	if len(plan.Trees) < repairs {
		return nil, fmt.Errorf("the plan has %d sessions, expected at least %d", len(plan.Trees), repairs)
	}
	ed, err := kind.Edit(ctx, registry.ToEdit(path))
	if err != nil {
		return nil, err
	}
	t := &timed{Editor: ed}
	apply := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}
	_, err = apply.Run(ctx, t, plan)
	return t, errors.Join(err, ed.Close())
}
