package sqlite

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// RowChange is what became of one row: the columns that changed, or the whole
// row where it was added or removed. Before is nil for a row that did not
// exist, After for one that is gone. Values are as Field has them.
type RowChange struct {
	Table  string `json:"table"`
	Row    int64  `json:"row"` // its rowid
	Before Image  `json:"before"`
	After  Image  `json:"after"`
	// Loose: a foreign key of the row led nowhere already before it changed.
	Loose bool `json:"loose,omitempty"`
}

// Image are columns of a row, by name.
type Image map[string]any

// sequenceTable holds the highest rowid that each AUTOINCREMENT table ever
// had, in its columns name and seq (fileformat2, section 2.6.2).
const sequenceTable = "sqlite_sequence"

// imageOf pairs columns with what was read of them. The driver reads an empty
// blob as a nil slice, which it would write as NULL.
func imageOf(columns []string, values []any) Image {
	m := make(Image, len(columns))
	for i, c := range columns {
		if b, ok := values[i].([]byte); ok && b == nil {
			values[i] = []byte{}
		}
		m[c] = values[i]
	}
	return m
}

// same reports whether two values are stored in the same way: 1, 1.0 and '1'
// all differ.
func same(a, b any) bool {
	switch a := a.(type) {
	case []byte:
		b, ok := b.([]byte)
		return ok && (a == nil) == (b == nil) && bytes.Equal(a, b)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	}
	if _, ok := b.([]byte); ok {
		return false
	}
	return a == b
}

// equal reports whether two images say the same of a row.
func equal(a, b Image) bool {
	if (a == nil) != (b == nil) || len(a) != len(b) {
		return false
	}
	for c, v := range a {
		if w, ok := b[c]; !ok || !same(v, w) {
			return false
		}
	}
	return true
}

// changeLog collects changes, one for each row.
type changeLog struct {
	rows map[rowKey]*RowChange
	// sequences are changes of sqlite_sequence, by the table they count for.
	sequences map[string]*RowChange
}

func newChangeLog() changeLog {
	return changeLog{rows: map[rowKey]*RowChange{}, sequences: map[string]*RowChange{}}
}

// add takes in that a row went from before to after, which are whole rows when
// the other is nil, else the same columns of it.
func (l *changeLog) add(key rowKey, before, after Image) {
	c, known := l.rows[key]
	switch {
	case !known:
		l.rows[key] = &RowChange{Table: key.table, Row: key.row, Before: before, After: after}
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
func (l *changeLog) addSequence(table string, before, after Image) {
	if c, known := l.sequences[table]; known {
		before = c.Before
	}
	l.sequences[table] = &RowChange{Table: sequenceTable, Before: before, After: after}
}

// merged is an image with the columns of both; those of the second count.
func merged(a, b Image) Image {
	m := make(Image, max(len(a), len(b)))
	for _, image := range []Image{a, b} {
		for c, v := range image {
			m[c] = v
		}
	}
	return m
}

// net are the changes that remain, ordered by table and row. Sequences come
// last, ordered by the table that they count for.
func (l *changeLog) net() []RowChange {
	var rows, sequences []RowChange
	for _, c := range l.rows {
		rows = appendNet(rows, *c)
	}
	for _, c := range l.sequences {
		sequences = appendNet(sequences, *c)
	}
	slices.SortFunc(rows, func(a, b RowChange) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Row, b.Row))
	})
	slices.SortFunc(sequences, func(a, b RowChange) int { return cmp.Compare(sequenceOf(a), sequenceOf(b)) })
	return append(rows, sequences...)
}

// appendNet appends a change without the columns that are what they were.
func appendNet(list []RowChange, c RowChange) []RowChange {
	if c.Table == sequenceTable {
		if equal(c.Before, c.After) {
			return list
		}
		return append(list, c)
	}
	if c.Before == nil || c.After == nil {
		return append(list, c)
	}
	before, after := Image{}, Image{}
	for column, v := range c.After {
		if !same(v, c.Before[column]) {
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
func sequenceOf(c RowChange) string {
	image := c.After
	if image == nil {
		image = c.Before
	}
	name, _ := image["name"].(string)
	return name
}

// Changes are the changes since Begin, one for each row that is not what it
// was, in an order that depends on them alone.
func (e *Edit) Changes() ([]RowChange, error) {
	if e.failed != nil {
		return nil, e.failed
	}
	return e.log.net(), nil
}

// Journal are the changes since Begin as EncodeChanges writes them.
func (e *Edit) Journal() ([]byte, error) {
	changes, err := e.Changes()
	if err != nil {
		return nil, err
	}
	return EncodeChanges(changes)
}
