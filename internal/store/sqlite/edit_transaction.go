package sqlite

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// Begin locks the database for writing; it waits for another writer, for at
// most two seconds. Its errors are problems of class Busy when another process
// has the database open, also one that only came after OpenEdit, and when the
// database changed since the last Backup (ErrMoved).
func (e *Edit) Begin(ctx context.Context) error {
	if e.open {
		return errors.New("a transaction is open already")
	}
	if _, err := e.db.conn.ExecContext(ctx, "pragma foreign_keys = on"); err != nil {
		return e.explain(err)
	}
	return e.begin(ctx)
}

// begin locks the database, with foreign keys or without, as they are.
func (e *Edit) begin(ctx context.Context) error {
	if _, err := e.db.conn.ExecContext(ctx, "begin immediate"); err != nil {
		e.abandon()
		return e.explain(err)
	}
	e.open, e.failed, e.reverting, e.trying = true, nil, false, false
	e.guard.reset()
	e.tables, e.reader, e.keys, e.log = map[string]tableShape{}, nil, nil, newChangeLog()
	if err := e.undisturbed(ctx); err != nil {
		return errors.Join(err, e.Rollback())
	}
	return nil
}

// undisturbed looks for other processes once more: from here on none can write.
func (e *Edit) undisturbed(ctx context.Context) error {
	if err := e.Replaced(); err != nil {
		return err
	}
	if w := e.probe(); w.State == session.WriterLive {
		return held(e.db.File.Path, w)
	}
	if !e.backedUp {
		return nil
	}
	version, err := e.dataVersion(ctx)
	if err == nil && version != e.version {
		return moved(e.db.File.Path)
	}
	return e.explain(err)
}

// probe looks for other processes while the database is open here. It may not
// open the -shm, since closing it would drop this process's own locks there.
// Nothing is missed by that: from its first transaction on a connection in WAL
// mode holds a lock on the database too.
func (e *Edit) probe() Writer {
	f := e.db.File
	f.SHM = -1
	return probe(e.db.handle, f)
}

// dataVersion is a number that changes with each commit of another connection,
// and not with those of this one.
func (e *Edit) dataVersion(ctx context.Context) (version int64, err error) {
	err = e.db.QueryRow(ctx, "pragma data_version").Scan(&version)
	return version, err
}

// ready is the reason why the transaction takes no more changes.
func (e *Edit) ready() error {
	switch {
	case !e.open:
		return errors.New("no transaction is open")
	case e.failed != nil:
		return e.failed
	case e.guard.rolledBack:
		return problem.New(problem.RolledBack, "try again", "%s was not changed: SQLite ended the transaction", e.db.File.Path)
	}
	return nil
}

// settle explains the error of a write and remembers it.
func (e *Edit) settle(err error) error {
	err = e.explain(err)
	if e.failed == nil {
		e.failed = err
	}
	return err
}

// Commit stores the transaction, or rolls it back and says why: RolledBack when
// a row changed that no Insert, Update, Delete or Revert changed, Busy when the path of
// the database no longer leads to it (ErrReplaced).
func (e *Edit) Commit(ctx context.Context) error {
	err := errors.Join(e.ready(), ctx.Err())
	if err == nil {
		err = e.strayed()
	}
	if err == nil {
		err = e.Replaced()
	}
	if err == nil {
		// An interrupted commit would leave open what became of it.
		_, err = e.db.conn.ExecContext(context.WithoutCancel(ctx), "commit")
		err = e.explainCommit(err)
	}
	if err != nil {
		return errors.Join(err, e.Rollback())
	}
	e.open, e.committed = false, true
	return nil
}

// explainCommit explains the error of a commit. A foreign key that is found
// broken only then belongs to a row that came back.
func (e *Edit) explainCommit(err error) error {
	if e.reverting && isConstraint(err) {
		return e.parentGone(err)
	}
	return e.explain(err)
}

// Rollback takes back what was done since Begin. Without a transaction it does
// nothing.
func (e *Edit) Rollback() error {
	if !e.open {
		return nil
	}
	e.open = false
	if e.guard.rolledBack { // by SQLite, as after an interrupt
		return nil
	}
	_, err := e.db.conn.ExecContext(context.Background(), "rollback")
	return e.explain(err)
}

// abandon ends a transaction that may have begun: when a context ends in time,
// the driver reports the end of it, also of a statement that succeeded.
func (e *Edit) abandon() { _, _ = e.db.conn.ExecContext(context.Background(), "rollback") }
