// Package postgres reads databases of PostgreSQL as package table asks for it: in one
// snapshot, without a lock that a writer could meet, and with rights to read only.
//
// How PostgreSQL stores values, and what a reader has to set, is from its documentation
// and from the notes named postgres.md in the design.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// DB is an open snapshot of one schema of a database. Its methods may be called from
// several goroutines, which take turns.
type DB struct {
	Name   string // as Name makes it, with the schema where one was named
	schema string
	path   string // the search path with which a runtime finds the schema, as SQL

	mu     sync.Mutex
	conn   *pgconn.PgConn
	tables map[string]relation
	rest   table.Schema
	bytes  int64
	writer session.Writer
	now    time.Time // by the server's clock
	writes bool      // in a transaction of an Edit

	readOnly string // why nothing can be changed, "" when it can
	identity string // of the server, the database and the schema
}

// settings are made within the transaction: a pooler would hand others on to the next
// client. A lock that another program waits for is not queued behind; rows that a
// policy hides are an error, not silence; rows come in the order in which they are
// stored, whoever else reads the table; and texts have one form. Constraints are not looked at
// for a query, because the functions in them would run.
const settings = ownPath + `;
set local constraint_exclusion = partition;
set local lock_timeout = '5s';
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

// ownPath comes before everything else of a transaction: a function or an operator that
// somebody made in another schema, with just the types of a call, would win over PostgreSQL's
// (documentation, 10.2 and 10.3), and run as the role that is connected.
const ownPath = "set local search_path = pg_catalog, pg_temp"

// reading begins a snapshot. Servers that can do so refuse a view or a foreign table that
// somebody puts in the place of a table that was looked at.
const reading = "begin isolation level repeatable read read only;\n" + settings + `;
select set_config(name, 'view, foreign-table', true) from pg_settings where name = 'restrict_nonsystem_relation_kind'`

// program is what the server calls the connections of sessctl.
const program = "sessctl"

func dialTarget(ctx context.Context, name string) (*target, *pgconn.PgConn, error) {
	if _, _, err := RegisterName(name); err != nil {
		return nil, nil, err
	}
	t := server.Find[target](name)
	if t == nil { // a name in another spelling than its own
		return nil, nil, problem.New(problem.Usage, "", "the name of the database is not a valid connection string")
	}
	config := *t.config                                      // its functions are not copied where several connect at once
	if validate := config.ValidateConnect; validate != nil { // asks which server it is
		config.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
			if _, err := conn.Exec(ctx, "begin;\n"+ownPath).ReadAll(); err != nil {
				return err
			}
			err := validate(ctx, conn)
			_, ended := conn.Exec(ctx, "rollback").ReadAll()
			return cmp.Or(err, ended)
		}
	}
	conn, err := server.Dial(ctx, name, t.config.User, &t.config.Password, func(ctx context.Context) (*pgconn.PgConn, error) {
		config.Password = t.config.Password // which every schema of the database has, once it was asked for
		return pgconn.ConnectConfig(ctx, &config)
	}, wantsPassword)
	if err != nil {
		if _, answered := errors.AsType[*pgconn.PgError](err); !answered {
			err = server.UnreachableError(name, t.config.User, "check sslmode and sslrootcert", err)
		}
		return nil, nil, explainError(name, err, answers)
	}
	return t, conn, nil
}

// Open begins a snapshot of a database that Name named.
func Open(ctx context.Context, name string) (*DB, error) {
	t, conn, err := dialTarget(ctx, name)
	if err != nil {
		return nil, err
	}
	db := &DB{Name: name, schema: t.schema, conn: conn, tables: map[string]relation{}}
	if err := db.loadSnapshot(ctx); err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	return db, nil
}

func (db *DB) loadSnapshot(ctx context.Context) error {
	if err := db.beginSnapshot(ctx); err != nil {
		return err
	}
	err := errors.Join(db.readSchema(ctx), db.readWriter(ctx))
	if err == nil {
		err = db.readServer(ctx)
	}
	return err
}

// beginSnapshot begins a snapshot and finds the schema that the role finds first, if none was named.
func (db *DB) beginSnapshot(ctx context.Context) error {
	db.path = quotedName(db.schema)
	if _, err := db.conn.Exec(ctx, reading).ReadAll(); err != nil || db.schema != "" {
		return err
	}
	db.path = "default"
	results, err := db.conn.Exec(ctx, "set local search_path = default;\nselect pg_catalog.current_schema();\n"+ownPath).ReadAll()
	if err == nil {
		db.schema = cmp.Or(string(results[1].Rows[0][0]), "public")
	}
	return err
}

// readServer asks which server this is, and whether it can be written to.
func (db *DB) readServer(ctx context.Context) error {
	const which = `select d.oid || '/' || n.oid, has_function_privilege('pg_catalog.pg_control_system()', 'execute'),
  case when pg_is_in_recovery() then 'the server is a replica'
    when current_setting('transaction_read_only') = 'on' and current_setting('default_transaction_read_only') = 'on' then 'transactions of this role or server only read' else '' end
from pg_catalog.pg_database d, pg_catalog.pg_namespace n where d.datname = current_database() and n.nspname = $1`
	allowed := ""
	err := db.queryTexts(ctx, which, func(row []string) error {
		db.identity, allowed, db.readOnly = row[0], row[1], row[2]
		return nil
	}, db.schema)
	if err != nil || allowed != "t" {
		return err
	}
	return db.queryTexts(ctx, "select system_identifier from pg_catalog.pg_control_system()", func(row []string) error {
		db.identity = row[0] + "/" + db.identity
		return nil
	})
}

// readWriter looks for other clients. Without one nothing writes there; of one nobody can
// tell whether it is a runtime, and a replica knows nothing of those of its primary server.
// The server's own workers have no user, and connections of sessctl, some of which this
// process closed a moment ago, write nothing.
func (db *DB) readWriter(ctx context.Context) error {
	const others = `select pg_is_in_recovery(), count(*), (extract(epoch from clock_timestamp()) * 1000000)::bigint from pg_catalog.pg_stat_activity
where datname = current_database() and usesysid is not null and application_name <> '` + program + `'`
	return db.queryTexts(ctx, others, func(row []string) error {
		if row[0] == "f" && row[1] == "0" {
			db.writer = session.WriterDead
		}
		now, err := strconv.ParseInt(row[2], 10, 64)
		db.now = time.UnixMicro(now)
		return err
	})
}

// OpenSign opens a sign: how far the server's log is written, whatever database it is about, or how far
// a replica has followed.
func OpenSign(ctx context.Context, name string) (server.Sign, error) {
	_, conn, err := dialTarget(ctx, name)
	if err != nil {
		return server.Sign{}, err
	}
	db := &DB{Name: name, conn: conn}
	ask := func(ctx context.Context) (at string, err error) {
		err = db.queryTexts(ctx, `select case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
  else pg_catalog.pg_current_wal_insert_lsn() end`, func(row []string) error { at = row[0]; return nil })
		return at, db.Explain(err)
	}
	return server.Sign{Ask: ask, Close: db.Close}, nil
}

// Close ends the snapshot and the connection. A pooler drops the connection of a client that
// leaves in a transaction, and has to open another one.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if !db.conn.IsClosed() && !db.conn.IsBusy() {
		_, _ = db.conn.Exec(ctx, "rollback").ReadAll()
	}
	return db.conn.Close(ctx)
}

// ListSchemas lists the names of the schemas of a database in which the role can read tables. The
// one that the role finds first is the first and goes by the name of the database. Of a name
// with a schema it is that one.
func ListSchemas(ctx context.Context, name string) (names []string, err error) {
	t, conn, err := dialTarget(ctx, name)
	if err != nil {
		return nil, err
	}
	db := &DB{Name: name, schema: t.schema, conn: conn}
	defer func() { err = errors.Join(err, db.Close()) }()
	if t.schema != "" {
		return []string{name}, nil
	}
	err = db.beginSnapshot(ctx)
	if err == nil {
		err = db.queryTexts(ctx, `select n.nspname from pg_catalog.pg_namespace n
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and has_schema_privilege(n.oid, 'usage')
  and exists (select from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f'))
order by n.nspname <> $1, n.nspname`, func(row []string) error {
			one := *t
			if one.schema = row[0]; row[0] == db.schema {
				one.schema = ""
			}
			names = append(names, one.registerTarget())
			return nil
		}, db.schema)
	}
	return names, db.Explain(err)
}

// queryTexts hands the rows of a query of the catalog to fn, as texts, "" for NULL. Their
// number is small.
func (db *DB) queryTexts(ctx context.Context, sql string, fn func(row []string) error, args ...string) error {
	values := lists.MapEach(args, func(arg string) []byte { return []byte(arg) })
	result := db.conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	if result.Err != nil {
		return result.Err
	}
	for _, row := range result.Rows {
		texts := lists.MapEach(row, func(value []byte) string { return string(value) })
		if err := fn(texts); err != nil {
			return err
		}
	}
	return nil
}

// String is the name, so that nothing else is printed by accident.
func (db *DB) String() string { return fmt.Sprintf("%s (schema %s)", db.Name, db.schema) }
