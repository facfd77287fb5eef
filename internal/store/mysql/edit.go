package mysql

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Edit is a database opened for changing: one connection, which reads in a snapshot, and
// from Begin on in a transaction of its own.
type Edit struct {
	*DB
	server.Changes[condition]
	locked bool // sessions are, in this transaction

	looks int64         // at the counters of the connection,
	noise server.Counts // each of which counts as so much
	own   server.Counts // changes that are no entry of the log: of rows that only took numbers
}

// Opener opens a database that RegisterName named, for changing.
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
		for name, r := range db.tables { // the catalog tells no rights that a role has by another one
			if _, _, err := db.execStatement(ctx, "explain delete from "+db.tableName(name)+" where false"); r.ReadOnly == "" && isNumber(err, 1142) {
				r.ReadOnly = notChangeable(name)
			}
		}
		e := &Edit{DB: db}
		e.Changes = server.NewChanges(db.Name, len(db.rest.Triggers) > 0, server.SQL[condition]{
			Table: func(name string) (table.Table, []string, []string) {
				if r := e.tables[name]; r != nil {
					return r.Table, r.key, r.made
				}
				return table.Table{}, nil, nil
			},
			AtPlace: e.atPlace, WithKey: e.withKey, LockRow: e.lockRow, InsertRow: e.insertRow, UpdateRow: e.updateRow, DeleteRow: e.deleteRow,
			CountChanges: func(ctx context.Context) (map[string]server.Counts, error) {
				all, err := e.readCounters(ctx)
				return map[string]server.Counts{"": all}, err
			},
			Together: true, BeginWriting: e.beginWriting, Started: e.calibrateCounters, BeginReading: e.beginReading,
			Execute: func(ctx context.Context, sql string) error { return e.execAll(ctx, sql) }, Remember: e.rememberPlaces,
			Explain: e.explainWriteError, BreaksConstraint: describeBreak,
			IsLost: func(err error) bool {
				_, refused := errors.AsType[*mysql.MySQLError](err)
				return !e.conn.IsValid() || err != nil && !refused
			},
			Outcome: e.askOutcome, Close: db.Close,
		})
		return e, nil
	}
}

// Reader reads as the transaction that is open sees the database.
func (e *Edit) Reader() table.Reader { return e }

// Close implements table.Transaction.
func (e *Edit) Close() error { return e.End() }

// beginWriting begins a transaction in which each statement sees what is committed.
func (e *Edit) beginWriting(ctx context.Context) error { return e.beginAt(ctx, "read committed") }

func (e *Edit) beginAt(ctx context.Context, level string) error {
	return e.execAll(ctx, "rollback", "set transaction isolation level "+level, "start transaction read write")
}

func (e *Edit) beginReading(ctx context.Context) error {
	for _, r := range e.tables {
		r.places.moved, r.places.owners = nil, nil // which a rollback took back, and who reads again gets other places
	}
	return e.execAll(ctx, reading...)
}

// Lock implements table.Editor. A runtime that adds an event to a session whose row is locked
// waits where a foreign key leads there; elsewhere all rows of the table are locked, and the
// places between them. These come first, as a runtime adds its event first: so none of them
// waits for what the other has.
func (e *Edit) Lock(ctx context.Context, rows table.Selection, belonging ...string) error {
	if !e.Writes || len(rows.Keys) == 0 {
		return nil
	}
	q, err := e.newSelection(rows.Table, nil)
	if err != nil {
		return err
	}
	nothing := func(table.Place, []table.Value) error { return nil }
	apart := slices.DeleteFunc(slices.Clone(belonging), func(name string) bool { return slices.Contains(e.rest.Tables[name].Parents, rows.Table) })
	if len(apart) > 0 && !e.locked && len(e.Log) == 0 {
		err = e.beginAt(ctx, "repeatable read") // which locks what is between rows, and reads nothing older than the locks
		for _, name := range apart {
			var all *selection
			if err == nil {
				all, err = e.newSelection(name, nil)
			}
			if err == nil {
				err = all.runSelection(ctx, e.DB, condition{}, " for update", nothing)
			}
		}
		if err != nil {
			return e.RememberError(err)
		}
	}
	e.locked = true
	return e.RememberError(q.runSelection(ctx, e.DB, q.of.withKeys(rows.Key, rows.Keys, len(rows.Key)-1), " for update", nothing))
}

// askOutcome connects again, and looks at the last row that was changed: a transaction that is still
// alive has it locked.
func (e *Edit) askOutcome(ctx context.Context) (outcome string) {
	again, err := openTarget(ctx, e.Of)
	if err != nil {
		return ""
	}
	e.conn = again.conn
	if e.beginWriting(ctx) == nil {
		outcome = e.OutcomeByRow(ctx)
		_ = e.execAll(ctx, "rollback")
	}
	return outcome
}

func (e *Edit) explainWriteError(err error) error {
	if err == nil || problem.ClassOf(err) != 0 {
		return err
	}
	if _, ok := errors.AsType[*mysql.MySQLError](err); !ok && !e.conn.IsValid() && !errors.Is(err, context.Canceled) {
		return &problem.Error{Class: problem.Busy, Err: err, What: "the connection to " + e.Of + " was lost", Next: "Run the repair again."}
	}
	err = explainError(e.Of, err, append(slices.Clone(writing), answers...))
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Class == problem.Busy {
		p.Err = errors.Join(table.ErrElsewhere, p.Err)
	}
	return err
}

// counters are how many rows a connection has added, changed and removed, those of triggers
// included; what it took back counts as well.
const counters = "show session status where variable_name in ('Handler_write', 'Handler_update', 'Handler_delete')"

// calibrateCounters finds out how much a look at the counters counts itself: its result may be a table.
func (e *Edit) calibrateCounters(ctx context.Context) error {
	e.locked, e.own, e.noise, e.looks = false, server.Counts{}, server.Counts{}, 0
	var seen [2]server.Counts
	for i := range seen {
		all, err := e.readCounters(ctx)
		if err != nil {
			return err
		}
		seen[i] = all
	}
	e.noise, e.looks = seen[1].Minus(seen[0]), 0
	return nil
}

func (e *Edit) readCounters(ctx context.Context) (c server.Counts, err error) {
	err = e.queryTexts(ctx, counters, func(row []string) error {
		n, err := strconv.ParseInt(row[1], 10, 64)
		switch row[0] {
		case "Handler_write":
			c[0] = n
		case "Handler_update":
			c[1] = n
		case "Handler_delete":
			c[2] = n
		}
		return err
	})
	for i := range c {
		c[i] -= e.looks*e.noise[i] + e.own[i]
	}
	e.looks++
	return c, err
}

// ReserveNumbers implements table.Writer. A server does not take back what it gave out: rows that
// are added and removed again take them, because nobody else gets these any more.
func (e *Edit) ReserveNumbers(ctx context.Context, of, column string, count int) (numbers []int64, err error) {
	if err := e.CheckReady(); err != nil || count == 0 {
		return nil, err
	}
	r := e.tables[of]
	if !r.Column(column).Given {
		highest := int64(0)
		err := e.queryTexts(ctx, "select coalesce(max("+quotedName(column)+"), 0) from "+e.tableName(of), func(row []string) error {
			highest, err = strconv.ParseInt(row[0], 10, 64)
			return err
		})
		for i := range count {
			numbers = append(numbers, highest+1+int64(i))
		}
		return numbers, e.RememberError(err)
	}
	for len(numbers) < count && err == nil {
		var number int64
		number, err = e.takeNumber(ctx, of, column)
		numbers = append(numbers, number)
	}
	return numbers, e.RememberError(err)
}

// takeNumber adds a row like the first one of a table, with a key that no other has, and removes it
// again.
func (e *Edit) takeNumber(ctx context.Context, of, column string) (int64, error) {
	r := e.tables[of]
	columns := slices.DeleteFunc(e.rest.Columns(of), func(c string) bool { return c == column || slices.Contains(r.made, c) })
	q, err := e.newSelection(of, columns)
	if err != nil {
		return 0, err
	}
	var fields []table.Field
	key := table.Image{}
	err = q.runSelection(ctx, e.DB, condition{}, " limit 1", func(_ table.Place, row []table.Value) error {
		for i, c := range columns {
			f := table.Field{Name: c, Value: table.CloneValue(row[i])}
			if slices.Contains(r.key, c) {
				f.Value = "sessctl takes a number"
				key[c] = f.Value
			}
			fields = append(fields, f)
		}
		return nil
	})
	if err == nil && fields == nil {
		err = problem.New(problem.RolledBack, "", "%s was not changed: its table %s has no row", e.Of, of)
	}
	if err != nil {
		return 0, err
	}
	_, image, err := e.insertRow(ctx, of, fields, []string{column})
	if slices.Contains(r.key, column) {
		key[column] = image[column]
	}
	if err == nil {
		_, err = e.deleteRow(ctx, of, e.withKey(of, key))
	}
	e.own[0]++
	e.own[2]++
	number, _ := image[column].(int64)
	return number, err
}
