package sqlite

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/store/table"
)

// sequenceTable holds the highest rowid that each AUTOINCREMENT table ever
// had, in its columns name and seq (fileformat2, section 2.6.2).
const sequenceTable = "sqlite_sequence"

// imageOf pairs columns with what was read of them. The driver reads an empty
// blob as a nil slice, which it would write as NULL.
func imageOf(columns []string, values []any) table.Image {
	m := make(table.Image, len(columns))
	for i, c := range columns {
		if b, ok := values[i].([]byte); ok && b == nil {
			values[i] = []byte{}
		}
		m[c] = values[i]
	}
	return m
}

// changeLog collects changes, one for each row.
type changeLog struct {
	rows map[rowKey]*table.RowChange
	// sequences are changes of sqlite_sequence, by the table they count for.
	sequences map[string]*table.RowChange
}

func newChangeLog() changeLog {
	return changeLog{rows: map[rowKey]*table.RowChange{}, sequences: map[string]*table.RowChange{}}
}

// add takes in that a row went from before to after, which are whole rows when
// the other is nil, else the same columns of it.
func (l *changeLog) add(key rowKey, before, after table.Image) {
	c, known := l.rows[key]
	switch {
	case !known:
		l.rows[key] = &table.RowChange{Table: key.table, Row: table.Place(key.row), Before: before, After: after}
	case after == nil && c.Before == nil:
		delete(l.rows, key)
	case after == nil: // the columns that had not changed before are as they were
		c.Before, c.After = merged(before, c.Before), nil
	case c.Before == nil || before == nil:
		c.After = merged(c.After, after)
	default:
		c.Before, c.After = merged(before, c.Before), merged(c.After, after)
	}
}

// loosen notes that a foreign key of a row led nowhere before it changed.
func (l *changeLog) loosen(key rowKey) {
	if c := l.rows[key]; c != nil && c.Before != nil {
		c.Loose = true
	}
}

// addSequence takes in that the sequence of a table changed.
func (l *changeLog) addSequence(of string, before, after table.Image) {
	if c, known := l.sequences[of]; known {
		before = c.Before
	}
	l.sequences[of] = &table.RowChange{Table: sequenceTable, Before: before, After: after}
}

// merged is an image with the columns of both; those of the second count.
func merged(a, b table.Image) table.Image {
	m := make(table.Image, max(len(a), len(b)))
	for _, image := range []table.Image{a, b} {
		for c, v := range image {
			m[c] = v
		}
	}
	return m
}

// net are the changes that remain, ordered by table and row. Sequences come
// last, ordered by the table that they count for.
func (l *changeLog) net() []table.RowChange {
	var rows, sequences []table.RowChange
	for _, c := range l.rows {
		rows = appendNet(rows, *c)
	}
	for _, c := range l.sequences {
		sequences = appendNet(sequences, *c)
	}
	slices.SortFunc(rows, func(a, b table.RowChange) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Row, b.Row))
	})
	slices.SortFunc(sequences, func(a, b table.RowChange) int { return cmp.Compare(sequenceOf(a), sequenceOf(b)) })
	return append(rows, sequences...)
}

// appendNet appends a change without the columns that are what they were.
func appendNet(list []table.RowChange, c table.RowChange) []table.RowChange {
	if c.Table == sequenceTable {
		if c.Before.Equal(c.After) {
			return list
		}
		return append(list, c)
	}
	if c.Before == nil || c.After == nil {
		return append(list, c)
	}
	before, after := table.Image{}, table.Image{}
	for column, v := range c.After {
		if !table.Same(v, c.Before[column]) {
			before[column], after[column] = c.Before[column], v
		}
	}
	if len(after) == 0 {
		return list
	}
	c.Before, c.After = before, after
	return append(list, c)
}

// sequenceOf is the table whose sequence changed.
func sequenceOf(c table.RowChange) string {
	image := c.After
	if image == nil {
		image = c.Before
	}
	name, _ := image["name"].(string)
	return name
}

// Changes are the changes since Begin, one for each row that is not what it
// was, in an order that depends on them alone.
func (e *Edit) Changes() ([]table.RowChange, error) {
	if e.failed != nil {
		return nil, e.failed
	}
	return e.log.net(), nil
}

// Journal are the changes since Begin as table.EncodeChanges writes them.
func (e *Edit) Journal() ([]byte, error) {
	changes, err := e.Changes()
	if err != nil {
		return nil, err
	}
	return table.EncodeChanges(changes)
}
