package sqlite

import (
	"context"
	"errors"
)

// Trial makes changes, and takes all of them back again. What was changed before stays,
// and is what Changes tells. It does nothing where the database has no rules that could
// make undo fail where a repair did not: to try it costs as much as the repair.
func (e *Edit) Trial(ctx context.Context, do func() error) error {
	if err := e.ready(); err != nil {
		return err
	}
	if has, err := e.db.rules(ctx); err != nil || !has {
		return e.settle(err)
	}
	if _, err := e.db.conn.ExecContext(ctx, "savepoint trial"); err != nil {
		return e.settle(err)
	}
	log, before := e.log, e.guard.strays
	e.log, e.trying = newChangeLog(), true
	err := do()
	if e.guard.rolledBack { // by SQLite, with all before it
		return err
	}
	if err == nil {
		err = e.strayed()
	}
	e.log, e.trying, e.reverting, e.failed = log, false, false, nil
	e.guard.strays, e.guard.leaving = before, map[rowKey]bool{}
	_, failed := e.db.conn.ExecContext(ctx, "rollback to trial")
	if failed == nil {
		_, failed = e.db.conn.ExecContext(ctx, "release trial")
	}
	return errors.Join(err, e.settle(failed))
}
