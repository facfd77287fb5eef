// Package mysql reads databases of MySQL and MariaDB as package table asks for it: in one
// snapshot, without a lock that a writer could meet, and with rights to read only.
//
// How the servers store values, and what a reader has to set, is from their documentation
// and from the notes named postgres.md (section 6) in the design.
package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// DB is an open snapshot of a database. Its methods may be called from several goroutines,
// which take turns.
type DB struct {
	Name     string // as RegisterName makes it
	database string
	address  string

	mu     sync.Mutex
	conn   connection
	tables map[string]*relation
	rest   table.Schema
	bytes  int64
	writer session.Writer
	now    time.Time // by the server's clock

	readOnly string // why nothing can be changed, "" when it can
	identity string // of the server and the database
}

// connection is one of the driver's, without the pool of package database/sql: what is set
// holds for all that is read.
type connection interface {
	driver.QueryerContext
	driver.ExecerContext
	driver.Validator
	Close() error
}

// program is what the server calls the connections of sessctl.
const program = "sessctl"

// settings are those of the connection. Texts and numbers of a receipt are stored as they were
// (NO_AUTO_VALUE_ON_ZERO, ALLOW_INVALID_DATES) or refused; a lock on a table that a migration
// holds is not waited for.
var settings = []string{
	"set names utf8mb4 collate utf8mb4_bin",
	"set session sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', " +
		"lock_wait_timeout = 5, innodb_lock_wait_timeout = 2, " +
		"wait_timeout = 900, net_write_timeout = 900, net_read_timeout = 900, sql_safe_updates = 0, foreign_key_checks = 1, autocommit = 1, sql_select_limit = default",
}

// ofServer are settings that only one of the two servers has: a MySQL server tells sizes that
// are a day old, and the optimizer of MariaDB makes a join of a long list.
var ofServer = map[bool]string{
	false: "set session max_execution_time = 0, information_schema_stats_expiry = 0",
	true:  "set session max_statement_time = 0, in_predicate_conversion_threshold = 0",
}

// reading begins a snapshot.
var reading = []string{"rollback", "set transaction isolation level repeatable read", "start transaction with consistent snapshot, read only"}

// ours are the numbers of the connections of this process, those that were closed included, by the
// address of the server; opening is locked while one is opened and not yet among them.
var (
	ours    = map[string][]int{}
	opening sync.Mutex
)

func dialTarget(ctx context.Context, name string) (*target, connection, error) {
	t, err := findTarget(name)
	if err != nil {
		return nil, nil, err
	}
	conn, err := server.Dial(ctx, name, t.config.User, &t.config.Passwd, func(ctx context.Context) (connection, error) {
		connector, err := mysql.NewConnector(t.config.Clone())
		if err != nil {
			return nil, err
		}
		conn, err := connector.Connect(ctx)
		if err != nil {
			return nil, err
		}
		return conn.(connection), nil //nolint:revive // what the driver has
	}, func(err error) bool { return isNumber(err, deniedPassword, deniedSocket) })
	if err != nil {
		if _, answered := errors.AsType[*mysql.MySQLError](err); !answered {
			err = server.UnreachableError(name, t.config.User, "check ssl-mode and ssl-ca", err)
		}
		return nil, nil, explainError(name, err, answers)
	}
	return t, conn, nil
}

// Open begins a snapshot of a database that RegisterName named.
func Open(ctx context.Context, name string) (*DB, error) {
	db, err := openTarget(ctx, name)
	if err != nil {
		return nil, err
	}
	err = db.readServer(ctx)
	if err == nil {
		err = db.readWriter(ctx)
	}
	if err == nil {
		err = db.execAll(ctx, reading...)
	}
	if err == nil {
		err = db.readSchema(ctx)
	}
	if err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	return db, nil
}

func openTarget(ctx context.Context, name string) (*DB, error) {
	opening.Lock()
	defer opening.Unlock()
	t, conn, err := dialTarget(ctx, name)
	if err != nil {
		return nil, err
	}
	db := &DB{Name: name, database: t.config.DBName, address: t.config.Addr, conn: conn, tables: map[string]*relation{}}
	version := ""
	err = db.queryTexts(ctx, "select version(), connection_id()", func(row []string) error {
		version = row[0]
		number, err := strconv.Atoi(row[1])
		if n := len(ours[db.address]); n > 0 && number <= ours[db.address][n-1] { // the server was started anew, and counts anew
			ours[db.address] = nil
		}
		ours[db.address] = append(ours[db.address], number)
		return err
	})
	if err == nil {
		err = db.execAll(ctx, append(slices.Clone(settings), ofServer[strings.Contains(version, "MariaDB")])...)
	}
	if err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	return db, nil
}

// readServer asks which server this is, what time it is there, and whether it can be written to.
func (db *DB) readServer(ctx context.Context) error {
	const variables = "show global variables where variable_name in ('server_uuid', 'server_uid', 'read_only', 'super_read_only', 'innodb_read_only', 'transaction_read_only', 'tx_read_only')"
	err := db.queryTexts(ctx, variables, func(row []string) error {
		switch name, on := row[0], row[1] != "OFF" && row[1] != "0"; {
		case strings.HasPrefix(name, "server_"):
			db.identity = row[1] + "/" + db.database
		case on:
			db.readOnly = "the server only reads (" + name + "), as a replica does"
		}
		return nil
	})
	if err != nil {
		return err
	}
	return db.queryTexts(ctx, "select cast(unix_timestamp(now(6)) * 1000000 as signed)", func(row []string) error {
		now, err := strconv.ParseInt(row[0], 10, 64)
		db.now = time.UnixMicro(now)
		return err
	})
}

// readWriter looks for other clients, where the role may see them. Without one nothing writes
// there; of one nobody can tell whether it is a runtime, and a replica knows nothing of those
// of its primary server. A client that has chosen no database may name it in its statements.
func (db *DB) readWriter(ctx context.Context) error {
	sees := false
	const allowed = `select 1 from information_schema.user_privileges where privilege_type = 'PROCESS' and grantee = concat("'", replace(current_user(), '@', "'@'"), "'")`
	err := db.queryTexts(ctx, allowed, func([]string) error { sees = true; return nil })
	if err != nil || !sees || db.readOnly != "" {
		return err
	}
	opening.Lock()
	defer opening.Unlock()
	others := 0
	err = db.queryTexts(ctx, "show processlist", func(row []string) error {
		user, database, command := row[1], row[3], row[4]
		number, err := strconv.Atoi(row[0])
		server := command == "Daemon" || strings.HasPrefix(command, "Binlog Dump") || user == "event_scheduler" || user == "unauthenticated user"
		if !slices.Contains(ours[db.address], number) && !server && (database == "" || strings.EqualFold(database, db.database)) {
			others++
		}
		return err
	})
	if err == nil && others == 0 {
		db.writer = session.WriterDead
	}
	return err
}

// OpenSign opens a sign: how far InnoDB's log is written, whatever database it is about. Each server has
// another name for that.
func OpenSign(ctx context.Context, name string) (server.Sign, error) {
	db, err := openTarget(ctx, name)
	if err != nil {
		return server.Sign{}, err
	}
	ask := func(ctx context.Context) (at string, err error) {
		err = db.queryTexts(ctx, "show global status where variable_name in ('Innodb_lsn_current', 'Innodb_redo_log_current_lsn', 'Innodb_os_log_written')", func(row []string) error {
			at += row[0] + " " + row[1] + "\n"
			return nil
		})
		return at, db.Explain(err)
	}
	return server.Sign{Ask: ask, Close: db.Close}, nil
}

// Close ends the snapshot and the connection.
func (db *DB) Close() error { return db.conn.Close() }

// ListDatabases are the names of the databases in which the role can read tables: that of the
// name, or all where it has none.
func ListDatabases(ctx context.Context, name string) (names []string, err error) {
	t, err := findTarget(name)
	if err != nil || t.config.DBName != "" {
		return []string{name}, err
	}
	db, err := openTarget(ctx, name)
	if err != nil {
		return nil, err
	}
	const all = `select distinct table_schema from information_schema.columns
where table_schema not in ('information_schema', 'performance_schema', 'mysql', 'sys') and privileges like '%select%' order by table_schema`
	err = db.queryTexts(ctx, all, func(row []string) error {
		one := *t
		one.config = t.config.Clone()
		one.config.DBName = row[0]
		names = append(names, one.registerTarget())
		return nil
	})
	return names, errors.Join(db.Explain(err), db.Close())
}

// queryRows hands the rows of a queryRows to fn. Their texts and bytes are the connection's until the
// next one is read. All rows are sent, even if fn has enough.
func (db *DB) queryRows(ctx context.Context, sql string, args []driver.Value, fn func(row []driver.Value) error) error {
	rows, err := db.conn.QueryContext(ctx, sql, named(args))
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		if err = rows.Next(row); err == nil {
			err = fn(row)
		}
	}
	closed := rows.Close()
	if errors.Is(err, io.EOF) && db.conn.IsValid() {
		err = nil
	}
	if err == nil {
		err = closed
	}
	return err
}

func named(args []driver.Value) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return list
}

// queryTexts hands the rows of a query of the catalog to fn, as texts, "" for NULL. Their
// number is small.
func (db *DB) queryTexts(ctx context.Context, sql string, fn func(row []string) error, args ...driver.Value) error {
	return db.queryRows(ctx, sql, args, func(row []driver.Value) error {
		texts := make([]string, len(row))
		for i, value := range row {
			switch v := value.(type) {
			case nil:
			case []byte:
				texts[i] = string(v)
			default:
				texts[i] = fmt.Sprint(v)
			}
		}
		return fn(texts)
	})
}

// execStatement runs a statement, and tells how many rows it found and the number that a row got.
func (db *DB) execStatement(ctx context.Context, sql string, args ...driver.Value) (found, number int64, err error) {
	result, err := db.conn.ExecContext(ctx, sql, named(args))
	if err != nil {
		return 0, 0, err
	}
	found, _ = result.RowsAffected()
	number, _ = result.LastInsertId()
	return found, number, nil
}

func (db *DB) execAll(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, _, err := db.execStatement(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// String is the name, so that nothing else is printed by accident.
func (db *DB) String() string { return db.Name }
