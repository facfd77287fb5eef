package sqlite

import (
	"context"
	"errors"
)

// Trial makes changes, and takes all of them back again. What was changed before stays,
// and is what Changes tells.
func (e *Edit) Trial(ctx context.Context, do func() error) error {
	if err := e.ready(); err != nil {
		return err
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
