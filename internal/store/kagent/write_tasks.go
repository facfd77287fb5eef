package kagent

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/table"
)

// rewriteTasks writes what a change means for tasks: those that moved belong to another
// session, and those of a session in which results name other children name these, too.
func rewriteTasks(ctx context.Context, to table.Writer, change *store.Change) error {
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
	edit table.Writer
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
	place      table.Place
	home, data any
}

func (t *taskTable) read(ctx context.Context, id string) (row taskRow, err error) {
	tasks := table.Selection{Table: tableTasks, Columns: []string{"session_id", "data", "id"}, Key: []string{"id"}, Keys: [][]table.Value{{id}}}
	found := false
	_, err = t.edit.Reader().Scan(ctx, tasks, func(at table.Place, values []table.Value) error {
		if textOf(values[2]) == id {
			row, found = taskRow{at, table.Kept(values[0]), table.Kept(values[1])}, true
		}
		return nil
	})
	if err == nil && !found {
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
	var fields []table.FieldChange
	if r.move != (move{}) {
		fields = append(fields, table.FieldChange{Name: "session_id", Old: row.home, New: r.to})
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
	return t.edit.Update(ctx, tableTasks, row.place, fields)
}
