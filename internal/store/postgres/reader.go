package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// About implements table.Reader.
func (db *DB) About() table.About {
	return table.About{
		Name: db.Name, Bytes: db.bytes, Writer: db.writer, Moving: true, Remote: true, ReadOnly: db.readOnly, Identity: db.identity, Now: db.now,
		Recovery: func() string {
			return "Restore the table from a backup of the database, or from a replica that is not damaged."
		},
	}
}

// Schema implements table.Reader.
func (db *DB) Schema(context.Context) (table.Schema, error) { return db.rest, nil }

// Faults implements table.Reader: nothing shows but what a scan meets.
func (db *DB) Faults(context.Context, bool) ([]session.Fault, error) { return nil, nil }

func quotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// selection is a query for some columns of a table, behind the place of each row.
type selection struct {
	db      *DB
	from    string // the table, with its schema
	columns []string
	types   []uint32
	formats []int16
}

func (db *DB) newSelection(name string, columns []string) (*selection, error) {
	r, ok := db.tables[name]
	if !ok || !r.reads {
		return nil, db.forbiddenError(name)
	}
	if r.kind != "r" && r.kind != "m" { // the rows of others have no place of their own
		return nil, problem.New(problem.Unreadable, "Name the database that has the tables themselves.",
			"%s in %s is %s, and sessctl reads plain tables", name, db.Name, relationKinds[r.kind])
	}
	if r.unread != "" {
		return nil, problem.New(problem.Unreadable, "Name a role that may read and is no superuser.",
			"%s was not read: an index or the statistics of its table %s would run %s", db.Name, name, r.unread)
	}
	q := &selection{db: db, from: quotedName(db.schema) + "." + quotedName(name), columns: columns, formats: []int16{asBinary}}
	for _, c := range columns {
		q.types = append(q.types, r.types[c])
		q.formats = append(q.formats, formatOf(r.types[c]))
	}
	return q, nil
}

var relationKinds = map[string]string{"v": "a view", "f": "a foreign table", "p": "a partitioned table"}

// runWhere hands the rows that a condition leaves to fn. Its values are those of parameters.
func (q *selection) runWhere(ctx context.Context, where string, values [][]byte, fn func(at table.Place, row []table.Value) error) error {
	return q.runQuery(ctx, q.selectSQL(where), values, fn)
}

func (q *selection) selectSQL(where string) string {
	sql := strings.Builder{}
	sql.WriteString("select ctid")
	for _, c := range q.columns {
		sql.WriteString(", " + quotedName(c))
	}
	return sql.String() + " from only " + q.from + " e" + where
}

// runQuery hands the rows of a query to fn. All of them are sent, even if fn has enough.
func (q *selection) runQuery(ctx context.Context, sql string, values [][]byte, fn func(at table.Place, row []table.Value) error) error {
	result := q.db.conn.ExecParams(ctx, sql, values, nil, nil, q.formats)
	row := make([]table.Value, len(q.columns))
	var stopped error
	for stopped == nil && result.NextRow() {
		raw := result.Values()
		for i, oid := range q.types {
			row[i] = valueOf(oid, raw[i+1])
		}
		stopped = fn(placeOf(raw[0]), row)
	}
	_, err := result.Close()
	return cmp.Or(stopped, err)
}

// runByCursor is as run, for a function that may soon have enough: rows come by and by.
func (q *selection) runByCursor(ctx context.Context, where string, values [][]byte, fn func(at table.Place, row []table.Value) error) error {
	err := q.db.conn.ExecParams(ctx, "declare glance cursor for "+q.selectSQL(where), values, nil, nil, nil).Read().Err
	for most, rows := 100, -1; err == nil && rows != 0; most = min(10*most, 10_000) {
		rows = 0
		err = q.runQuery(ctx, fmt.Sprintf("fetch %d from glance", most), nil, func(at table.Place, row []table.Value) error {
			rows++
			return fn(at, row)
		})
	}
	if _, failed := errors.AsType[*pgconn.PgError](err); failed { // going back to the savepoint closes it
		return err
	}
	_, closed := q.db.conn.Exec(ctx, "close glance").ReadAll()
	return cmp.Or(err, closed)
}

// A place is the block of a row and its number there: a ctid, which names a version of
// a row as long as the snapshot is open.
func placeOf(raw []byte) table.Place {
	return table.Place(binary.BigEndian.Uint32(raw))<<16 | table.Place(binary.BigEndian.Uint16(raw[4:]))
}

func ctidText(at table.Place) string {
	return "(" + strconv.FormatInt(int64(at>>16), 10) + "," + strconv.FormatInt(int64(at&0xffff), 10) + ")"
}

// Scan implements table.Reader.
func (db *DB) Scan(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) ([]session.Fault, error) {
	q, err := db.newSelection(s.Table, s.Columns)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	where, values := q.whereClause(s)
	last := table.Place(0)
	read := q.runWhere
	if s.Glance {
		read = q.runByCursor
	}
	begun, err := db.withSavepoint(ctx, func() error {
		return read(ctx, where, values, func(at table.Place, row []table.Value) error {
			last = at
			return fn(at, row)
		})
	})
	if errors.Is(err, table.Enough) {
		return nil, nil
	}
	if !begun || !isDamage(err) || s.Keys != nil || s.Lacking != nil {
		return nil, err
	}
	if s.Glance {
		return []session.Fault{{Kind: session.StoreDamaged, Item: -1, Ref: session.Ref{Table: s.Table, Key: "*"}}}, nil
	}
	return db.salvageScan(ctx, q, s, last, fn)
}

// whereClause is the condition for the rows that matter.
func (q *selection) whereClause(s table.Selection) (where string, values [][]byte) {
	types := q.db.tables[s.Table].types
	switch {
	case s.Lacking != nil:
		var same []string
		for i, column := range s.Lacking.Columns {
			same = append(same, "o."+quotedName(column)+" = e."+quotedName(s.Key[i]))
		}
		return " where not exists (select from only " + quotedName(q.db.schema) + "." + quotedName(s.Lacking.Table) + " o where " + strings.Join(same, " and ") + ")", nil
	case s.Times != "" && (types[s.Times] == typeTimestamp || types[s.Times] == typeTimestamptz):
		time := quotedName(s.Times) // without a zone it is read as one of UTC
		return " where " + time + " >= $1 or " + time + " <= 'epoch' or " + time + " is null", [][]byte{[]byte(s.Since.UTC().Format(time6 + "-07:00"))}
	}
	return q.keysClause(s)
}

// keysClause is the condition for some keys: one that lets the server choose between an index
// and a pass over the table.
func (q *selection) keysClause(s table.Selection) (where string, values [][]byte) {
	if s.Keys == nil || len(s.Keys) > mostKeys {
		return "", nil
	}
	var columns, lists []string
	for i, column := range s.Key {
		list := []byte("{")
		for _, key := range s.Keys {
			if key[i] == nil {
				return "", nil
			}
			list = fmt.Appendf(list, "\"%s\",", escaped.Replace(fmt.Sprint(key[i])))
		}
		values = append(values, append(bytes.TrimSuffix(list, []byte(",")), '}'))
		kind, _, _ := strings.Cut(q.db.tables[s.Table].Table.Column(column).Type, "(") // a cast to a length would cut
		if strings.Contains(kind, ".") {                                               // a cast to somebody's type may run a constraint of it
			return "", nil
		}
		columns, lists = append(columns, quotedName(column)), append(lists, fmt.Sprintf("$%d::%s[]", i+1, kind))
	}
	return " where (" + strings.Join(columns, ", ") + ") in (select * from unnest(" + strings.Join(lists, ", ") + "))", values
}

// escaped is an element of an array between quotation marks.
var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// mostKeys bounds the length of a query; more are read with the whole table.
const mostKeys = 200_000

// Rows implements table.Reader.
func (db *DB) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	q, err := db.newSelection(name, columns)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return server.ReadPlaces(places, fn, func(places []table.Place, each func(at table.Place, row []table.Value) error) error {
		return db.readPlaces(ctx, q, places, each)
	})
}

// readPlaces reads the rows at places, and leaves out those that are damaged.
func (db *DB) readPlaces(ctx context.Context, q *selection, places []table.Place, fn func(at table.Place, row []table.Value) error) error {
	if len(places) == 0 {
		return nil
	}
	list := lists.MapEach(places, func(at table.Place) string { return `"` + ctidText(at) + `"` })
	done := 0
	begun, err := db.withSavepoint(ctx, func() error {
		value := []byte("{" + strings.Join(list, ",") + "}")
		return q.runWhere(ctx, " where ctid = any($1::tid[])", [][]byte{value}, func(at table.Place, row []table.Value) error {
			done, _ = slices.BinarySearchFunc(places, at, func(p, at table.Place) int { return cmp.Compare(p, at) })
			done++
			return fn(at, row)
		})
	})
	switch {
	case !begun || !isDamage(err):
		return err
	case len(places)-done == 1:
		return nil
	}
	rest := places[done:] // the first of them that cannot be read ended the query
	half := max(1, len(rest)/2)
	return errors.Join(db.readPlaces(ctx, q, rest[:half], fn), db.readPlaces(ctx, q, rest[half:], fn))
}

// withSavepoint runs a query so that the snapshot outlives its failure. A transaction that writes
// ends with the first one: there every savepoint would cost its session a lock.
func (db *DB) withSavepoint(ctx context.Context, do func() error) (begun bool, err error) {
	if db.writes {
		return false, do()
	}
	if _, err := db.conn.Exec(ctx, "savepoint reading").ReadAll(); err != nil {
		return false, err
	}
	err = do()
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Severity != "FATAL" {
		if _, back := db.conn.Exec(ctx, "rollback to savepoint reading").ReadAll(); back != nil {
			return false, errors.Join(err, back)
		}
	}
	return true, err
}
