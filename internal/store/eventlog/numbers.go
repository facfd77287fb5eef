package eventlog

import (
	"context"

	"github.com/sessctl/sessctl/internal/store/table"
)

// numbers gives out the numbers of events (Write.Renumber): each higher than all
// that were ever given out as far as the store knows.
type numbers struct {
	columns []string
	left    [][]int64 // of each column
}

// read gets the numbers that a change needs.
func (n *numbers) read(ctx context.Context, w *writer, all []*difference) error {
	n.columns = w.write.Renumber
	count := 0
	for _, d := range all {
		count += len(d.steps) - d.fresh
	}
	n.left = make([][]int64, len(n.columns))
	for i, column := range n.columns {
		var err error
		if n.left[i], err = w.edit.Numbers(ctx, w.events.Name, column, count); err != nil {
			return err
		}
	}
	return nil
}

// give adds the next number to a new row.
func (n *numbers) give(row []table.Field) []table.Field {
	for i, column := range n.columns {
		row = append(row, table.Field{Name: column, Value: n.left[i][0]})
		n.left[i] = n.left[i][1:]
	}
	return row
}
