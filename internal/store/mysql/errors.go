package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/server"
)

// answer is what some errors of a server mean for a reader. %s in what stands for the name of the
// database.
type answer struct {
	numbers []uint16
	class   problem.Class
	what    string
	next    string
}

// The numbers of errors that are looked at elsewhere, too.
const (
	deniedPassword = 1045
	deniedSocket   = 1698 // MariaDB
	duplicate      = 1062
	waitedForLock  = 1205
	deadlock       = 1213
)

// answers are looked through in this order.
var answers = []answer{
	{[]uint16{deniedPassword, deniedSocket}, problem.Unreadable, "%s does not let this role in, or refuses its password", "Name the role (mysql://USER@HOST/DATABASE), and put the password into ~/.my.cnf below [client], or into MYSQL_PWD."},
	{[]uint16{1044, 1049}, problem.Unreadable, "the database of %s does not exist, or the role may not use it", "Check the name after the last slash. `SHOW DATABASES` lists those that the role may use."},
	{[]uint16{1129, 1130, 1820, 1862, 3118, 4151}, problem.Unreadable, "%s does not let this role in from here", "Name another role (mysql://USER@HOST/DATABASE), or ask for an account for this host."},
	{[]uint16{1142, 1143, 1227, 1370}, problem.Unreadable, "the role may not read all of %s", "Let it: GRANT SELECT ON DATABASE.* TO …;"},
	{[]uint16{1040, 1203, 1226}, problem.Busy, "%s has no connection left", "Try again later, or close other clients."},
	{[]uint16{waitedForLock}, problem.Busy, "a table of %s is locked by another program, perhaps a migration", "Try again when it has finished."},
	{[]uint16{1412}, problem.Busy, "a table of %s was changed by a migration", "Try again when it has finished."},
	{[]uint16{deadlock}, problem.Busy, "%s ended the reading because of other work", "Try again."},
	{[]uint16{1317, 1969, 3024}, problem.Unreadable, "the server of %s stopped the reading", "Somebody cancelled it, or the server limits how long a query may take: name a role without that limit."},
	{[]uint16{1053, 1927, 3169, 4031}, problem.Unreadable, "the server of %s ended the connection", "Try again when it runs."},
	{[]uint16{1021, 1037, 1038, 1041, 1114, 3170}, problem.Unreadable, "%s has not enough memory or disk space", "Try again when the server has more of it."},
	{[]uint16{1030, 1033, 1034, 1035, 1194, 1195, 1296, 1712, 1812, 1815, 1877, 1932, 3185}, problem.Unreadable, "%s is damaged", "Restore the table from a backup of the database, or read a replica that is not damaged."},
}

// writing are answers to writes: see answers.
var writing = []answer{
	{[]uint16{1142, 1143, 1227, 1370}, problem.Unreadable, "the role may not change %s", "Let it: GRANT SELECT, INSERT, UPDATE, DELETE ON DATABASE.* TO …;"},
	{[]uint16{1290, 1792, 1836, 3100}, problem.Unreadable, "%s can only be read", "Name the primary server."},
	{[]uint16{waitedForLock, 3572}, problem.Busy, "a session of %s is locked: a program is writing to it", "Repair that session again later."},
	{[]uint16{deadlock, 1020, 1180, 3101}, problem.Busy, "%s took the change back because of other work", "Repair that session again later."},
	{[]uint16{1317, 1969, 3024}, problem.Busy, "the server of %s stopped the change", "Try again, or name a role without a limit for statements."},
	{[]uint16{1665}, problem.Unreadable, "%s logs statements for its replicas, which cannot tell what sessctl does", "Set binlog_format to MIXED or ROW."},
	{[]uint16{1153, 1264, 1265, 1292, 1300, 1366, 1367, 1406, 1411, 3140, 3854, 4078}, problem.RolledBack, "%s cannot store a value of the change", "Repair the other sessions, and please report this."},
	{[]uint16{1048, duplicate, 1216, 1217, 1451, 1452, 1557, 1586, 1644, 3819, 4025}, problem.RolledBack, "%s refused the change, which breaks a constraint", "If somebody added a constraint or a trigger, remove it during the repair."},
}

// telling are the errors whose words are about the connection, the role or the server: others may
// repeat what is stored.
var telling = []uint16{1040, 1044, deniedPassword, 1049, 1053, 1129, 1130, 1142, 1143, 1203, 1226, 1227, 1290, deniedSocket, 1792, 1820, 1836, 1862}

// Explain implements table.Reader.
func (db *DB) Explain(err error) error { return explainError(db.Name, err, answers) }

func explainError(name string, err error, by []answer) error {
	if err == nil || problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	failed, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return server.LostError(name, err)
	}
	said := fmt.Sprint("error ", failed.Number)
	if slices.Contains(telling, failed.Number) {
		said = failed.Message + ", " + said
	}
	for _, a := range by {
		if slices.Contains(a.numbers, failed.Number) {
			return &problem.Error{Class: a.class, Err: err, What: fmt.Sprintf(a.what, name) + " (" + said + ")", Next: a.next}
		}
	}
	return &problem.Error{Class: problem.Unreadable, Err: err, What: fmt.Sprintf("%s cannot be read (%s)", name, said)}
}

func isNumber(err error, numbers ...uint16) bool {
	failed, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains(numbers, failed.Number)
}
