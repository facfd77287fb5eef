package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// isAwaited reports whether rows name a new row of a table already: an undo that takes it away leaves
// them as they were. What they name is read once in a transaction, of a foreign key of one column.
func (e *Edit) isAwaited(ctx context.Context, of string, row []table.Field) (bool, error) {
	keys, err := e.foreignKeys(ctx)
	if err != nil {
		return false, err
	}
	for _, k := range keys {
		if !strings.EqualFold(k.Parent, of) || len(k.To) != 1 {
			continue
		}
		at := slices.IndexFunc(row, func(f table.Field) bool { return strings.EqualFold(f.Name, k.To[0]) })
		if at < 0 { // SQLite gives it out
			continue
		}
		names, read := e.awaited[k.From+"\x00"+k.Columns[0]]
		if !read {
			if names, err = e.readAwaited(ctx, k); err != nil {
				return false, err
			}
			e.awaited[k.From+"\x00"+k.Columns[0]] = names
		}
		name := column.View(row[at].Value)
		for key, c := range e.log.rows { // a row that changed, or left, named it before
			if c.Loose && strings.EqualFold(key.table, k.From) && column.View(c.Before[k.Columns[0]]) == name {
				return true, nil
			}
		}
		if names[name] {
			return true, nil
		}
	}
	return false, nil
}

// readAwaited reads what a foreign key names that does not exist.
func (e *Edit) readAwaited(ctx context.Context, k ForeignKey) (map[string]bool, error) {
	from := "c." + Quoted(k.Columns[0])
	s, err := e.prepareStatement(ctx, "select distinct "+from+" from "+Quoted(k.From)+" c where "+from+" is not null and not exists(select 1 from "+Quoted(k.Parent)+" p where p."+Quoted(k.To[0])+" = "+from+")")
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	names := map[string]bool{}
	for rows.Next() {
		var value any
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		names[column.Text(value)] = true
	}
	return names, rows.Err()
}

// awaits reports whether a row that is back names one that came while others awaited it, and is gone again.
func awaits(keys []ForeignKey, c table.RowChange, rows []table.RowChange) bool {
	return slices.ContainsFunc(keys, func(k ForeignKey) bool {
		return strings.EqualFold(k.From, c.Table) && len(k.To) == 1 && slices.ContainsFunc(rows, func(r table.RowChange) bool {
			return r.Loose && r.Before == nil && strings.EqualFold(k.Parent, r.Table) && column.View(r.After[k.To[0]]) == column.View(c.Before[k.Columns[0]])
		})
	})
}
