package kagent

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// rewriteTasks writes what a change means for tasks: those that moved belong to another
// session, and those of a session in which results name other children name these, too.
func rewriteTasks(ctx context.Context, to eventlog.Target, change *store.Change) error {
	tasks := taskTable{edit: to}
	moves, err := tasks.moves(ctx, change)
	if err != nil {
		return err
	}
	stored := itemsOf(change.Before)
	for _, s := range change.After.Sessions {
		children := childrenOf(stored, s)
		for i := range s.Runs {
			run := &s.Runs[i]
			m, moved := moves[run.ID]
			if !moved && !children.differ {
				continue
			}
			if err := tasks.rewrite(ctx, run.ID, rewrite{move: m, moved: moves, child: children.of(run)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// taskTable is the table of tasks while it is being changed.
type taskTable struct {
	edit  eventlog.Target
	rowid string // the name that the rowid has in it, once a row was read
}

// moves are the tasks that another session has now, by id.
func (t *taskTable) moves(ctx context.Context, change *store.Change) (map[string]move, error) {
	homes := map[string][]string{}
	for _, s := range change.Before.Sessions {
		for i := range s.Runs {
			homes[s.Runs[i].ID] = append(homes[s.Runs[i].ID], s.ID)
		}
	}
	moves := map[string]move{}
	for _, s := range change.After.Sessions {
		for i := range s.Runs {
			id := s.Runs[i].ID
			was := homes[id]
			if slices.Contains(was, s.ID) {
				continue
			}
			if like := change.Split[s.ID]; len(was) != 1 || was[0] != like {
				return nil, problem.New(problem.RolledBack, "", "task %s cannot go to session %s: only a session that is split from its own can get it", id, s.ID)
			}
			row, err := t.read(ctx, id)
			if err != nil {
				return nil, err
			}
			from, _ := row.home.(string)
			moves[id] = move{from, s.ID}
		}
	}
	return moves, nil
}

// taskRow is what can change of a task.
type taskRow struct {
	rowid      int64
	home, data any
}

func (t *taskTable) read(ctx context.Context, id string) (row taskRow, err error) {
	if t.rowid == "" {
		if t.rowid, err = t.edit.DB().RowID(ctx, tableTasks); err != nil {
			return row, err
		}
	}
	err = t.edit.DB().QueryRow(ctx, "select "+t.rowid+", session_id, data from "+sqlite.Quoted(tableTasks)+" where id = ?", id).
		Scan(&row.rowid, &row.home, &row.data)
	if errors.Is(err, sql.ErrNoRows) {
		err = problem.New(problem.RolledBack, "Check the store again.", "task %s is not there any more", id)
	}
	return row, err
}

// rewrite changes the row of a task where it has to name another session.
func (t *taskTable) rewrite(ctx context.Context, id string, r rewrite) error {
	row, err := t.read(ctx, id)
	if err != nil {
		return err
	}
	var fields []sqlite.FieldChange
	if r.move != (move{}) {
		fields = append(fields, sqlite.FieldChange{Name: "session_id", Old: row.home, New: r.to})
	}
	doc, err := openDocument(row.data)
	if err != nil && r.move == (move{}) {
		return nil // nobody reads it, and it stays where it is
	}
	if err == nil {
		err = doc.edit(r.apply)
	}
	if err != nil {
		return problem.New(problem.RolledBack, "Repair the other conversations one by one with --session.", "task %s cannot be changed: %v", id, err)
	}
	fields = append(fields, doc.change()...)
	return t.edit.Update(ctx, tableTasks, row.rowid, fields)
}
