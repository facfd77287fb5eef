package dockeragent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// The columns of which every new row has a value.
var filled = map[string][]string{
	tableItems:    {"id", "session_id", "position", "item_type"},
	tableSessions: {"id", "parent_id", "title", "created_at"},
}

// examineTables finds out what a repair has to be sure of in the tables that it writes, whatever
// migrations are on record: that it can make a row, that a row is found by its id, and
// that no value of one depends on what sessctl does not know. Triggers and unique indexes
// count where a migration is not known, which may have made them: others were added by
// somebody, and are tried when they are met.
func (s *schema) examineTables(ctx context.Context, db *sqlite.DB) error {
	keys, err := db.ForeignKeys(ctx)
	if err != nil {
		return db.Explain(err)
	}
	for _, table := range []string{tableSessions, tableItems} {
		if len(s.columns[table]) == 0 {
			continue
		}
		d, err := db.Definition(ctx, table)
		if err != nil {
			return err
		}
		s.examineColumns(table, &d)
		for _, k := range keys {
			s.examineKey(table, k)
		}
		if len(s.later) == 0 {
			continue
		}
		for _, i := range d.Unique {
			s.noteDoubt("index %s allows no two rows of %s with the same values of %s", displayName(i.Name), table, joinNames(i.Columns))
		}
		for _, t := range s.triggers {
			if strings.EqualFold(t.Table, table) {
				s.noteDoubt("trigger %s acts on changes of %s", displayName(t.Name), table)
			}
		}
	}
	return nil
}

func (s *schema) noteDoubt(format string, args ...any) {
	s.doubts = append(s.doubts, fmt.Sprintf(format, args...))
}

func (s *schema) examineColumns(table string, d *sqlite.Definition) {
	known, filled := columnsOf(table), filled[table]
	if table == tableSessions {
		for _, c := range childColumns {
			filled = append(filled, c.name)
		}
	}
	var key []string
	checks := wordsOfChecks(d.SQL)
	for _, c := range d.Columns {
		of, isKnown := known[c.Name]
		if c.Key {
			key = append(key, c.Name)
		}
		if c.NotNull && (c.Default == "" || strings.EqualFold(c.Default, "null")) && !slices.Contains(filled, c.Name) {
			s.noteDoubt("column %s of %s needs a value that sessctl does not know", displayName(c.Name), table)
		}
		if isKnown && len(s.later) > 0 && !strings.EqualFold(c.Type, of) {
			s.noteDoubt("column %s of %s holds %s, not %s", c.Name, table, displayName(c.Type), of)
		}
		if isKnown && checks[strings.ToLower(c.Name)] {
			s.noteDoubt("a CHECK of %s tests column %s", table, c.Name)
		}
		if table == tableItems && !isKnown && !c.Generated {
			s.ties = append(s.ties, tie{
				where: fmt.Sprintf("i.%s is not %s", sqlite.Quoted(c.Name), defaultOf(c.Default)), moves: true,
				why: fmt.Sprintf("has a value in column %s, and sessctl does not know what that means for the session", displayName(c.Name)),
			})
		}
	}
	if !slices.Equal(key, []string{"id"}) {
		s.noteDoubt("the key of %s is not its column id", table)
	}
}

// examineKey looks at a foreign key that a table has, or that leads to it.
func (s *schema) examineKey(table string, k sqlite.ForeignKey) {
	known := []string{"sessions.parent_id", "sessions.branch_parent_session_id", "session_items.session_id", "session_items.subsession_id"}
	switch {
	case k.From == table && (k.Parent != tableSessions || !slices.Contains(known, table+"."+strings.Join(k.Columns, ","))):
		s.noteDoubt("column %s of %s refers to table %s", joinNames(k.Columns), table, displayName(k.Parent))
	case k.From != table && table == tableItems && strings.EqualFold(k.Parent, table) && !slices.Contains(k.To, ""):
		var same []string
		for n := range k.Columns {
			same = append(same, fmt.Sprintf("r.%s = i.%s", sqlite.Quoted(k.Columns[n]), sqlite.Quoted(k.To[n])))
		}
		s.ties = append(s.ties, tie{
			where: fmt.Sprintf("exists(select 1 from %s r where %s)", sqlite.Quoted(k.From), strings.Join(same, " and ")),
			why:   fmt.Sprintf("has a row of table %s that refers to it, and sessctl does not know what that means", displayName(k.From)),
		})
	}
}

// columnsOf are the types of the columns that migrations gave a table.
func columnsOf(table string) map[string]string {
	list := map[string]string{}
	for _, m := range migrations {
		for _, c := range m.columns {
			if of, column := splitColumnName(c); of == table {
				list[column] = c[len(table)+len(column)+2:]
			}
		}
	}
	return list
}

// unknownColumns are the columns of a table that no known migration made, in order.
func (s *schema) unknownColumns(table string) []string {
	known := columnsOf(table)
	return slices.DeleteFunc(slices.Sorted(slices.Values(s.columns[table])), func(c string) bool { return known[c] != "" })
}

var startOfCheck = pattern.Lazy(`(?i)\bcheck\s*\(`)

// wordsOfChecks are the words within the CHECKs of a table's definition, in lower case.
func wordsOfChecks(sql string) map[string]bool {
	words := map[string]bool{}
	for _, at := range startOfCheck().FindAllStringIndex(sql, -1) {
		depth, end := 1, at[1]
		for ; end < len(sql) && depth > 0; end++ {
			depth += strings.Count(sql[end:end+1], "(") - strings.Count(sql[end:end+1], ")")
		}
		for word := range strings.FieldsFuncSeq(strings.ToLower(sql[at[1]:end]), func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
		}) {
			words[word] = true
		}
	}
	return words
}

var bareWord = pattern.Lazy(`^[A-Za-z_]\w*$`)

// defaultOf is the default of a column as an expression: SQLite takes a word there for a text.
func defaultOf(standard string) string {
	switch strings.ToLower(standard) {
	case "":
		return "null"
	case "null", "true", "false":
		return standard
	}
	if bareWord().MatchString(standard) {
		return "'" + standard + "'"
	}
	return "(" + standard + ")"
}

// describeUnknown says what sessctl does not know of the schema.
func (s *schema) describeUnknown() string {
	if len(s.later) == 0 {
		return "The tables are not those that docker agent creates"
	}
	noun := "migration "
	if len(s.later) > 1 {
		noun = "migrations "
	}
	return fmt.Sprintf("The database has %s%s, which sessctl does not know (it knows migrations up to %s)",
		noun, joinNames(s.later), generationName(migrations[len(migrations)-1].number))
}

// describeUnread says which tables and columns are not read.
func (s *schema) describeUnread() string {
	var list, pointing []string
	for _, table := range slices.Sorted(maps.Keys(s.columns)) {
		if len(columnsOf(table)) == 0 && table != "migrations" && !strings.HasPrefix(table, "sqlite_") {
			list = append(list, table)
			if s.has(table, "session_id") {
				pointing = append(pointing, table)
			}
		}
	}
	for _, table := range []string{tableItems, tableSessions} {
		for _, c := range s.unknownColumns(table) {
			list = append(list, table+"."+c)
		}
	}
	text := "Sessions and items were read."
	if len(list) > 0 {
		text += " Neither read nor changed by a repair: " + joinNames(list) + "."
	}
	if len(pointing) > 0 {
		text += " What " + joinNames(pointing) + " says about a session stays with that session, even if a repair moves messages to another one."
	}
	return text
}

// joinNames lists names from the database, the first few of many.
func joinNames(names []string) string {
	const most = 6
	list := lists.MapEach(names[:min(len(names), most)], displayName)
	if more := len(names) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return joinWords(list)
}

var plainName = pattern.Lazy(`^[\w.]{1,60}$`)

// displayName is a name from the database: in quotes, and not all of a long one, where it is no
// usual one.
func displayName(name string) string {
	if plainName().MatchString(name) {
		return name
	}
	return idText(name)
}
