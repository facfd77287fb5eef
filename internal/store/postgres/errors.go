package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/server"
)

// answer is what a state of SQL means for a reader. %s stands for the name of the
// database in what, and for the role in next.
type answer struct {
	state string // the code, or its first two letters
	class problem.Class
	what  string
	next  string
}

// answers are looked through in this order.
var answers = []answer{
	{"28P01", problem.Unreadable, "%s refuses the password", "Put the right one into ~/.pgpass as a line HOST:PORT:DATABASE:USER:PASSWORD, or into PGPASSWORD."},
	{"28", problem.Unreadable, "%s does not let this role in", "Name another role (postgres://USER@HOST/DATABASE), or ask for a line in the server's pg_hba.conf."},
	{"3D000", problem.Unreadable, "the database of %s does not exist", "Check the name behind the last slash. `psql -l` lists the databases of a server."},
	{"3F000", problem.Unreadable, "the schema of %s does not exist", "Check search_path in the name."},
	{"42501", problem.Unreadable, "the role may not read all of %s", "Let it: GRANT SELECT ON ALL TABLES IN SCHEMA …; a role that row-level security applies to also needs BYPASSRLS, or it would miss rows."},
	{"53300", problem.Busy, "%s has no connection left", "Try again later, or close other clients."},
	{"53", problem.Unreadable, "%s has not enough memory or disk space", "Try again when the server has more of it."},
	{"55P03", problem.Busy, "a table of %s is locked by another program, perhaps a migration", "Try again when it has finished."},
	{"57014", problem.Unreadable, "the server of %s stopped the reading", "Somebody cancelled it, or the server limits how long a query may take: name a role without that limit."},
	{"40001", problem.Busy, "%s is a replica, and it stopped the reading for a change of the primary server", "Try again, read in parts (--shard), or set hot_standby_feedback or a longer max_standby_streaming_delay there."},
	{"40", problem.Busy, "%s ended the reading because of other work", "Try again."},
	{"57", problem.Unreadable, "the server of %s ended the connection", "Try again when it runs."},
	{"08", problem.Unreadable, "the connection to %s failed", "Check the network, and the log of the server or of the pooler in front of it."},
	{"25P03", problem.Unreadable, "the server of %s ended a reading that paused for too long", "Try again on a machine that has less to do."},
	{"XX00", problem.Unreadable, "%s is damaged", "Restore the table from a backup of the database, or read a replica that is not damaged."},
}

// isDamage reports whether a page or a long value cannot be read (XX001, XX002).
func isDamage(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "XX001" || failed.Code == "XX002")
}

func wantsPassword(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "28P01"
}

// IsStopped reports whether a replica cancelled a query because of a change of its primary
// server, or ended the connection, where it may have had no room left to say why.
func IsStopped(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && failed.Code == "40001" || errors.Is(err, io.ErrUnexpectedEOF)
}

// Explain implements table.Reader.
func (db *DB) Explain(err error) error { return explainError(db.Name, err, answers) }

func explainError(name string, err error, by []answer) error {
	if err == nil || problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	failed, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return server.LostError(name, err)
	}
	for _, a := range by {
		if strings.HasPrefix(failed.Code, a.state) {
			return &problem.Error{Class: a.class, Err: err, What: fmt.Sprintf(a.what, name) + " (" + stateOf(err) + ")", Next: a.next}
		}
	}
	return &problem.Error{Class: problem.Unreadable, Err: err, What: fmt.Sprintf("%s cannot be read (%s)", name, stateOf(err))}
}

// stateOf names the state of an error of the server, with its words where these are about
// the connection, the role or the server: others may repeat what is stored.
func stateOf(err error) string {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return "no answer"
	case len(failed.Code) == 5 && slices.Contains([]string{"08", "25", "28", "3D", "3F", "53", "55", "57"}, failed.Code[:2]):
		return failed.Message + ", SQLSTATE " + failed.Code
	}
	return "SQLSTATE " + failed.Code
}

// forbiddenError is the problem with a table that the role cannot read.
func (db *DB) forbiddenError(name string) error {
	if _, exists := db.tables[name]; !exists {
		return problem.New(problem.Unreadable, "", "%s has no table %s in its schema %s", db.Name, name, db.schema)
	}
	role := db.conn.ParameterStatus("session_authorization")
	return problem.New(problem.Unreadable, fmt.Sprintf("Let it: `GRANT SELECT ON %s.%s TO %s;`", quotedName(db.schema), quotedName(name), quotedName(cmp.Or(role, "ROLE"))),
		"the role may not read the table %s of %s", name, db.Name)
}

// majorVersion is the first number of a version of the server, 0 where it has none.
func majorVersion(version string) int {
	digits, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(digits)
	return n
}
