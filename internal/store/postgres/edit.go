package postgres

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/lists"
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
	moved  map[rowAt]table.Place // where rows are now that were changed
	sure   map[string]bool       // tables of which it is known, in this transaction, what they run
}

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
		e.Changes = server.NewChanges(db.Name, len(db.rest.Triggers) > 0, server.SQL[condition]{
			Table: func(name string) (table.Table, []string, []string) {
				r := e.tables[name]
				return r.Table, r.key, r.made
			},
			AtPlace: e.atPlace, WithKey: e.withKey, LockRow: e.lockRow, InsertRow: e.insertRow, UpdateRow: e.updateRow, DeleteRow: e.deleteRow,
			CountChanges: e.countChanges, BeginWriting: e.beginWriting, Started: e.noteTransaction, BeginReading: e.beginReading,
			Settle: func(ctx context.Context) error { // triggers that are deferred, which would run after the last look
				return e.withPath(ctx, true, func() error { return e.execSQL(ctx, "set constraints all immediate") })
			},
			Execute: e.execSQL, Remember: e.rememberPlaces, Explain: e.explainWriteError, BreaksConstraint: describeBreak,
			IsLost: func(err error) bool {
				_, refused := errors.AsType[*pgconn.PgError](err)
				return e.conn.IsClosed() || err != nil && !refused
			},
			Outcome: e.askOutcome, Close: db.Close,
		})
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
	now := lists.MapEach(places, func(at table.Place) table.Place { return e.currentPlace(name, at) })
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

func (e *Edit) beginWriting(ctx context.Context) error {
	err := e.execSQL(ctx, "rollback") // of the snapshot
	if err == nil {
		err = e.execSQL(ctx, changing)
	}
	e.writes = err == nil
	return err
}

// noteTransaction notes by what the server knows the transaction that began.
func (e *Edit) noteTransaction(ctx context.Context) error {
	e.moved, e.sure = map[rowAt]table.Place{}, map[string]bool{}
	counted := ""
	err := e.queryTexts(ctx, "select current_setting('track_counts'), pg_catalog.txid_current()::text, pg_catalog.pg_postmaster_start_time()::text", func(row []string) error {
		counted, e.number, e.begun = row[0], row[1], row[2]
		return nil
	})
	if err == nil && counted != "on" {
		err = problem.New(problem.Unreadable, "Set track_counts to on for this database.", "%s counts no changes, so that sessctl could not see what triggers do", e.Name)
	}
	return err
}

// beginReading begins the transaction in which everything is read that needs no lock.
func (e *Edit) beginReading(ctx context.Context) error {
	e.writes = false
	return e.execSQL(ctx, reading)
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
	order := lists.MapEach(rows.Key, quotedName)
	where, values := q.keysClause(rows)
	err = q.runQuery(ctx, q.selectSQL(where)+" order by "+strings.Join(order, ", ")+" for update", values, func(table.Place, []table.Value) error { return nil })
	return e.RememberError(err)
}

func (e *Edit) tableName(name string) string { return quotedName(e.schema) + "." + quotedName(name) }

// askOutcome connects again, and asks what became of the transaction.
func (e *Edit) askOutcome(ctx context.Context) string {
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
	return status
}

// Close implements table.Transaction.
func (e *Edit) Close() error { return e.End() }

func (e *Edit) explainWriteError(err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok || problem.ClassOf(err) != 0 {
		if errors.Is(err, io.ErrUnexpectedEOF) || err != nil && e.conn.IsClosed() && problem.ClassOf(err) == 0 {
			return &problem.Error{Class: problem.Busy, Err: err, What: "the connection to " + e.Name + " was lost", Next: "Run the repair again."}
		}
		return e.Explain(err)
	}
	err = explainError(e.Name, err, append(slices.Clone(writing), answers...))
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Class == problem.Busy {
		p.Err = errors.Join(table.ErrElsewhere, p.Err)
	}
	return err
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
