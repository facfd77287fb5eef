package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Edit is a database opened for changing: one connection, which reads in a snapshot, and
// from Begin on in a transaction of its own.
type Edit struct {
	*DB
	server.Changes[condition]
	number string                // of that transaction, for the server
	begun  string                // when the server was started that gave this number out
	turn   int64                 // transactions that were begun: nothing holds that was read in another one
	moved  map[rowAt]table.Place // where rows are now that were changed
	sure   map[string]bool       // tables of which it is known, in this transaction, what they run
}

// condition is one for rows, with its parameters.
type condition struct {
	sql  string
	args [][]byte
}

// rowAt is where a row of a table was.
type rowAt struct {
	table string
	at    table.Place
}

// Opener opens a database that Name named, for changing.
func Opener(name string) func(context.Context) (table.Editor, error) {
	return func(ctx context.Context) (table.Editor, error) {
		db, err := Open(ctx, name)
		if err != nil {
			return nil, err
		}
		if db.readOnly != "" {
			return nil, errors.Join(problem.New(problem.Unreadable, "Name the primary server, or a role that may write.",
				"%s cannot be changed: %s", db.Name, db.readOnly), db.Close())
		}
		e := &Edit{DB: db}
		e.Changes.Server, e.Changes.Of = statements{e}, db.Name
		return e, nil
	}
}

// changing are settings of a transaction that changes rows: nobody waits for it longer than a
// moment, and what is committed is on the disk.
const changing = `begin isolation level read committed read write;
` + settings + `;
set local lock_timeout = '2s';
set local idle_in_transaction_session_timeout = '1min';
select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'`

// Reader reads as the transaction that is open sees the database.
func (e *Edit) Reader() table.Reader { return e }

// Rows implements table.Reader. A row that was changed has another place since.
func (e *Edit) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) ([]int, error) {
	now := make([]table.Place, len(places))
	for i, at := range places {
		now[i] = e.currentPlace(name, at)
	}
	return e.DB.Rows(ctx, name, columns, now, fn)
}

func (e *Edit) currentPlace(name string, at table.Place) table.Place {
	for {
		next, moved := e.moved[rowAt{name, at}]
		if !moved {
			return at
		}
		at = next
	}
}

// Version implements table.Transaction: PostgreSQL tells nobody that others have
// committed, so that nothing holds that was read before the locks.
func (e *Edit) Version(context.Context) (int64, error) { return e.turn, nil }

// Replaced implements table.Transaction: a name leads to one database.
func (e *Edit) Replaced() error { return nil }

// Left implements table.Transaction: nothing lies beside a database.
func (e *Edit) Left() string { return "" }

// DeclareDerived implements table.Editor: no known runtime has triggers there.
func (e *Edit) DeclareDerived(context.Context, string, ...string) error { return nil }

// Begin implements table.Transaction.
func (e *Edit) Begin(ctx context.Context) error {
	if e.Writes {
		return errors.New("a transaction is open already")
	}
	if err := e.execSQL(ctx, "rollback"); err != nil { // of the snapshot
		return e.Explain(err)
	}
	if err := e.execSQL(ctx, changing); err != nil {
		return errors.Join(e.explainWriteError(err), e.beginReading(ctx))
	}
	e.turn++
	e.writes, e.Writes, e.moved, e.sure = true, true, map[rowAt]table.Place{}, map[string]bool{}
	counted := ""
	err := e.queryTexts(ctx, "select current_setting('track_counts'), pg_catalog.txid_current()::text, pg_catalog.pg_postmaster_start_time()::text", func(row []string) error {
		counted, e.number, e.begun = row[0], row[1], row[2]
		return nil
	})
	if err == nil && counted != "on" {
		err = problem.New(problem.Unreadable, "Set track_counts to on for this database.", "%s counts no changes, so that sessctl could not see what triggers do", e.Name)
	}
	if err == nil {
		err = e.BeginChanges(ctx, len(e.rest.Triggers) > 0)
	}
	if err != nil {
		return errors.Join(e.explainWriteError(err), e.Rollback())
	}
	return nil
}

// beginReading begins the transaction in which everything is read that needs no lock.
func (e *Edit) beginReading(ctx context.Context) error {
	e.turn++
	return e.Explain(e.execSQL(ctx, reading))
}

func (e *Edit) execSQL(ctx context.Context, sql string) error {
	_, err := e.conn.Exec(ctx, sql).ReadAll()
	return err
}

// Lock implements table.Editor. A runtime that adds an event to a session whose row is locked
// waits where a foreign key leads there; elsewhere the whole table is locked.
func (e *Edit) Lock(ctx context.Context, rows table.Selection, belonging ...string) error {
	if !e.Writes || len(rows.Keys) == 0 {
		return nil
	}
	q, err := e.newSelection(rows.Table, nil)
	if err != nil {
		return err
	}
	for _, name := range belonging {
		if !slices.Contains(e.tables[name].Parents, rows.Table) {
			if err := e.execSQL(ctx, "lock table "+e.tableName(name)+" in share row exclusive mode"); err != nil {
				return e.RememberError(err)
			}
		}
	}
	order := make([]string, len(rows.Key))
	for i, column := range rows.Key {
		order[i] = quotedName(column)
	}
	where, values := q.keysClause(rows)
	err = q.runQuery(ctx, q.selectSQL(where)+" order by "+strings.Join(order, ", ")+" for update", values, func(table.Place, []table.Value) error { return nil })
	return e.RememberError(err)
}

func (e *Edit) tableName(name string) string { return quotedName(e.schema) + "." + quotedName(name) }

// Commit implements table.Transaction.
func (e *Edit) Commit(ctx context.Context) error {
	err := errors.Join(e.Failed, ctx.Err())
	if !e.Writes {
		err = errors.New("no transaction is open")
	}
	if err == nil && len(e.rest.Triggers) > 0 { // those that are deferred would run behind the last look
		err = e.RememberError(e.withPath(ctx, true, func() error { return e.execSQL(ctx, "set constraints all immediate") }))
	}
	if err == nil {
		err = e.CheckStrays(ctx)
	}
	if err != nil {
		return errors.Join(err, e.Rollback())
	}
	ctx = context.WithoutCancel(ctx) // an interrupted commit would leave open what became of it
	e.writes, e.Writes = false, false
	err = e.execSQL(ctx, "commit")
	if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && (!refused || e.conn.IsClosed()) {
		err = e.askOutcome(ctx)
	}
	if err != nil {
		return e.explainWriteError(err)
	}
	_ = e.beginReading(ctx) // it is saved; who uses the connection next hears what is wrong with it
	return nil
}

// askOutcome connects again after a connection was lost during a commit, and asks what became of it.
func (e *Edit) askOutcome(ctx context.Context) error {
	_ = e.DB.Close()
	return server.AskOutcome(e.Name, func() string {
		_, conn, err := dialTarget(ctx, e.Name)
		if err != nil {
			return ""
		}
		e.conn = conn
		status, begun := "", ""
		if err = e.beginReading(ctx); err == nil {
			const outcome = "select pg_catalog.txid_status($1::bigint), pg_catalog.pg_postmaster_start_time()::text"
			err = e.queryTexts(ctx, outcome, func(row []string) error { status, begun = row[0], row[1]; return nil }, e.number)
			_ = e.execSQL(ctx, "rollback")
		}
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "22023" {
			status = server.Aborted // the server crashed before it wrote anything of it: the number was never given out
		}
		if status == server.Committed && begun != e.begun { // perhaps of another transaction, which got the number after a crash
			if status = ""; e.execSQL(ctx, changing) == nil {
				status = e.OutcomeByRow(ctx)
				_ = e.execSQL(ctx, "rollback")
			}
		}
		if status != server.Committed && status != server.Aborted {
			_ = e.DB.Close()
		}
		return status
	})
}

// Rollback implements table.Transaction. A server takes back by itself what a lost
// connection leaves.
func (e *Edit) Rollback() error {
	if !e.Writes {
		return nil
	}
	e.writes, e.Writes = false, false
	if e.conn.IsClosed() {
		return nil
	}
	ctx := context.Background()
	if err := e.execSQL(ctx, "rollback"); err != nil && !e.conn.IsClosed() {
		return e.Explain(err)
	}
	if e.conn.IsClosed() {
		return nil
	}
	return e.beginReading(ctx)
}

// Close implements table.Transaction.
func (e *Edit) Close() error {
	if e.conn.IsClosed() {
		return nil
	}
	return errors.Join(e.Rollback(), e.DB.Close())
}

// explainWriteError turns the error of a write into a problem for people.
func (e *Edit) explainWriteError(err error) error {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || problem.ClassOf(err) != 0 {
		if errors.Is(err, io.ErrUnexpectedEOF) || err != nil && e.conn.IsClosed() && problem.ClassOf(err) == 0 {
			return &problem.Error{Class: problem.Busy, Err: err, What: "the connection to " + e.Name + " was lost", Next: "Run the repair again."}
		}
		return e.Explain(err)
	}
	for _, a := range writing {
		if strings.HasPrefix(refused.Code, a.state) {
			p := &problem.Error{Class: a.class, Err: err, What: fmt.Sprintf(a.what, e.Name) + " (" + stateOf(err) + ")", Next: a.next}
			if a.class == problem.Busy {
				p.Err = errors.Join(table.ErrElsewhere, err)
			}
			return p
		}
	}
	return e.Explain(err)
}

// writing are answers to writes: see answers.
var writing = []answer{
	{"42501", problem.Unreadable, "the role may not change %s", "Let it: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA …, and USAGE ON ALL SEQUENCES."},
	{"25006", problem.Unreadable, "%s can only be read", "Name the primary server."},
	{"55P03", problem.Busy, "a session of %s is locked: a program is writing to it", "Repair that session again later."},
	{"40", problem.Busy, "%s took the change back because of other work", "Repair that session again later."},
	{"55000", problem.RolledBack, "%s refused the change", "A publication of this table needs a primary key or REPLICA IDENTITY."},
	{"22", problem.RolledBack, "%s cannot store a value of the change", "Repair the other sessions, and please report this."},
	{"23", problem.RolledBack, "%s refused the change, which breaks a constraint", "If somebody added a constraint, remove it during the repair."},
	{"57014", problem.Busy, "the server of %s stopped the change", "Try again, or name a role without a limit for statements."},
}
