// Package postgres reads databases of PostgreSQL as package table asks for it: in one
// snapshot, without a lock that a writer could meet, and with rights to read only.
//
// How PostgreSQL stores values, and what a reader has to set, is from its documentation
// and from the notes named postgres.md in the design.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// DB is an open snapshot of one schema of a database. Its methods may be called from
// several goroutines, which take turns.
type DB struct {
	Name   string // as Name makes it, with the schema where one was named
	schema string

	mu     sync.Mutex
	conn   *pgconn.PgConn
	tables map[string]relation
	rest   table.Schema
	bytes  int64
	writer session.Writer
}

// settings are made within the transaction: a pooler would hand others on to the next
// client. A lock that another program waits for is not queued behind; rows that a
// policy hides are an error, not silence; rows come in the order in which they are
// stored, whoever else reads the table; and texts have one form.
const settings = `set local lock_timeout = '5s';
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = '15min';
set local row_security = off;
set local synchronize_seqscans = off;
set local max_parallel_workers_per_gather = 0;
set local jit = off;
set local client_encoding = 'UTF8';
set local timezone = 'UTC';
set local datestyle = 'ISO';
set local extra_float_digits = 1`

// program is what the server calls the connections of sessctl.
const program = "sessctl"

// connecting is how long a server may take to answer: one that was scaled to nothing
// takes seconds to start.
const connecting = 20 * time.Second

func connect(ctx context.Context, name string) (*target, *pgconn.PgConn, error) {
	if _, _, err := Name(name); err != nil {
		return nil, nil, err
	}
	known, _ := targets.Load(name)
	t, ok := known.(*target)
	if !ok { // a name in another spelling than its own
		return nil, nil, problem.New(problem.Usage, "", "the name of the database is not a valid connection string")
	}
	limited, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	conn, err := pgconn.ConnectConfig(limited, t.config)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, unreachable(name, t.config, err)
	}
	return t, conn, nil
}

// Open begins a snapshot of a database that Name named.
func Open(ctx context.Context, name string) (*DB, error) {
	t, conn, err := connect(ctx, name)
	if err != nil {
		return nil, err
	}
	db := &DB{Name: name, schema: t.schema, conn: conn, tables: map[string]relation{}}
	if err := db.begin(ctx); err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	return db, nil
}

func (db *DB) begin(ctx context.Context) error {
	if _, err := db.conn.Exec(ctx, "begin isolation level repeatable read read only").ReadAll(); err != nil {
		return err
	}
	if _, err := db.conn.Exec(ctx, settings).ReadAll(); err != nil {
		return err
	}
	if db.schema == "" {
		if err := db.query(ctx, "select coalesce(current_schema()::text, 'public')", func(row []string) error { db.schema = row[0]; return nil }); err != nil {
			return err
		}
	}
	if err := db.readSchema(ctx); err != nil {
		return err
	}
	return db.readWriter(ctx)
}

// readWriter looks for other clients. Without one nothing writes there; of one nobody can
// tell whether it is a runtime, and a replica knows nothing of those of its primary server.
// The server's own workers have no user, and connections of sessctl, some of which this
// process closed a moment ago, write nothing.
func (db *DB) readWriter(ctx context.Context) error {
	const others = `select pg_is_in_recovery(), count(*) from pg_catalog.pg_stat_activity
where datname = current_database() and usesysid is not null and application_name <> '` + program + `'`
	return db.query(ctx, others, func(row []string) error {
		if row[0] == "f" && row[1] == "0" {
			db.writer = session.WriterDead
		}
		return nil
	})
}

// Close ends the snapshot and the connection.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return db.conn.Close(ctx)
}

// Schemas are the schemas of a database in which the role can read tables, the one that
// it finds first at the start. Of a name with a schema it is that one.
func Schemas(ctx context.Context, name string) (schemas []string, err error) {
	t, conn, err := connect(ctx, name)
	if err != nil {
		return nil, err
	}
	db := &DB{Name: name, conn: conn}
	defer func() { err = errors.Join(err, db.Close()) }()
	if t.schema != "" {
		return []string{t.schema}, nil
	}
	err = db.query(ctx, `select n.nspname from pg_catalog.pg_namespace n
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and has_schema_privilege(n.oid, 'usage')
  and exists (select from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f'))
order by n.nspname is distinct from current_schema(), n.nspname`, func(row []string) error {
		schemas = append(schemas, row[0])
		return nil
	})
	return schemas, db.Explain(err)
}

// InSchema is the name of one schema of a database that Name named.
func InSchema(name, schema string) string {
	known, _ := targets.Load(name)
	t, ok := known.(*target)
	if !ok || t.schema == schema {
		return name
	}
	one := *t
	one.schema = schema
	full := nameOf(t.config, schema)
	targets.Store(full, &one)
	return full
}

// query hands the rows of a query of the catalog to fn, as texts, "" for NULL. Their
// number is small.
func (db *DB) query(ctx context.Context, sql string, fn func(row []string) error, args ...string) error {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(arg)
	}
	result := db.conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	if result.Err != nil {
		return result.Err
	}
	for _, row := range result.Rows {
		texts := make([]string, len(row))
		for i, value := range row {
			texts[i] = string(value)
		}
		if err := fn(texts); err != nil {
			return err
		}
	}
	return nil
}

// String is the name, so that nothing else is printed by accident.
func (db *DB) String() string { return fmt.Sprintf("%s (schema %s)", db.Name, db.schema) }
