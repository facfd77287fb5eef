package adk

import (
	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// revision is the row of an event while it is being changed: of a document, single
// values change and every other byte stays.
type revision struct {
	row     record
	columns []string // that change, in the order in which they were changed first
	values  map[string]any
	indexes map[string]*jsonedit.Index // of the documents as they are, by column
}

// record is the row of an event, or the one document that another store has of it.
type record interface {
	Value(column string) any
	Has(column string) bool
}

func revise(row record) *revision {
	return &revision{row: row, values: map[string]any{}, indexes: map[string]*jsonedit.Index{}}
}

func (r *revision) value(column string) any {
	if value, changed := r.values[column]; changed {
		return value
	}
	return r.row.Value(column)
}

func (r *revision) set(column string, value any) {
	if _, changed := r.values[column]; !changed {
		r.columns = append(r.columns, column)
	}
	r.values[column] = value
	delete(r.indexes, column)
}

// put gives a value in a document another one; nil takes it away.
func (r *revision) put(at spot, value []byte) error {
	doc, err := jsonedit.Set(r.document(at.column), string(at.pointer), value)
	return r.become(at.column, doc, err)
}

// become makes an edited document that of a column, which keeps its type.
func (r *revision) become(column string, doc []byte, err error) error {
	if err != nil {
		return notAsRead(column)
	}
	if _, isText := r.row.Value(column).(string); isText {
		r.set(column, string(doc))
	} else {
		r.set(column, doc)
	}
	return nil
}

func (r *revision) document(column string) []byte { return bytesOf(r.value(column)) }

// index is that of a document, as it is now.
func (r *revision) index(column string) *jsonedit.Index {
	x := r.indexes[column]
	if x == nil {
		x = jsonedit.NewIndex(r.document(column))
		r.indexes[column] = x
	}
	return x
}

// changes are the columns that hold something else now.
func (r *revision) changes() []table.FieldChange {
	var list []table.FieldChange
	for _, column := range r.columns {
		list = append(list, table.FieldChange{Name: column, Old: table.Kept(r.row.Value(column)), New: r.values[column]})
	}
	return list
}

func notAsRead(column string) error {
	return problem.New(problem.RolledBack, "check the store again", "an event was not changed: its %s does not hold what was read of it", column)
}
