package sqlite

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// Triggers are the triggers of the database but for a runtime's own, by their names.
func (db *DB) Triggers(ctx context.Context, own ...string) (list []session.Trigger, err error) {
	err = db.each(ctx, func(scan func(...any) error) error {
		var t session.Trigger
		var sql string
		err := scan(&t.Name, &t.Table, &sql)
		if m := triggerHead.FindStringSubmatch(sql); m != nil {
			t.When = strings.ToLower(strings.Join(strings.Fields(m[1]+" "+m[2]), " "))
		}
		if !slices.Contains(own, t.Name) {
			list = append(list, t)
		}
		return err
	}, "select name, tbl_name, coalesce(sql, '') from sqlite_schema where type = 'trigger' order by name")
	return list, db.Explain(err)
}

// triggerHead is what a trigger begins with: SQLite stores the first two words itself.
var triggerHead = regexp.MustCompile("(?is)^create\\s+trigger\\s+(?:if\\s+not\\s+exists\\s+)?" +
	"(?:\"(?:[^\"]|\"\")*\"|`[^`]*`|\\[[^\\]]*\\]|[^\\s\"`\\[]+)\\s+(?:(before|after)\\s+)?(insert|update|delete)\\b")

// rules reports whether the database has rules by which undo could fail where a repair
// does not: triggers, and unique indexes that are no part of a table.
func (db *DB) rules(ctx context.Context) (has bool, err error) {
	err = db.QueryRow(ctx, `select exists(select 1 from sqlite_schema where type = 'trigger' or type = 'index' and sql like 'create unique %')`).Scan(&has)
	return has, err
}
