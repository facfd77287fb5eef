package table

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
)

// RowChange is what became of one row: the columns that changed, or the whole
// row where it was added or removed. Before is nil for a row that did not
// exist, After for one that is gone. Values are as Field has them.
type RowChange struct {
	Table  string `json:"table"`
	Row    Place  `json:"row"`
	Before Image  `json:"before"`
	After  Image  `json:"after"`
	// Loose: a foreign key of the row led nowhere already before it changed; of a row that came, one
	// of another row led to it before.
	Loose bool `json:"loose,omitempty"`
}

// Image are columns of a row, by name.
type Image map[string]any

// SameValue reports whether two values are stored in the same way: 1, 1.0 and '1'
// all differ.
func SameValue(a, b any) bool {
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

// Equal reports whether two images say the same of a row.
func (m Image) Equal(other Image) bool {
	if (m == nil) != (other == nil) || len(m) != len(other) {
		return false
	}
	for c, v := range m {
		if w, ok := other[c]; !ok || !SameValue(v, w) {
			return false
		}
	}
	return true
}

// Fields are the values of an image, by name, so that statements repeat.
func (m Image) Fields() []Field {
	fields := make([]Field, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fields = append(fields, Field{Name: name, Value: m[name]})
	}
	return fields
}

// ImageOf are fields by name.
func ImageOf(fields []Field) Image {
	m := make(Image, len(fields))
	for _, f := range fields {
		m[f.Name] = f.Value
	}
	return m
}

// FieldsOf are the values of an image in those of some columns that it has.
func (m Image) FieldsOf(columns []string) []Field {
	return slices.DeleteFunc(m.Fields(), func(f Field) bool { return !slices.Contains(columns, f.Name) })
}

// EncodeChanges writes changes as JSON on one line, in one pass: a journal can hold a big
// part of a database, and is written while that is locked. DecodeChanges reads
// it.
//
// A value of an image is written like this, so that it comes back exactly as it
// was stored:
//
//	null                  NULL
//	42                    an integer, of up to 64 bits
//	"text"                a text in UTF-8
//	{"text": "/w=="}      a text that is not valid UTF-8, base64
//	{"real": "0x1.8p+01"} a floating point number, hexadecimal, or "+Inf" or "-Inf"
//	{"blob": "AAE="}      a blob, base64
func EncodeChanges(changes []RowChange) ([]byte, error) {
	size := 0
	for _, c := range changes {
		for _, m := range []Image{c.Before, c.After} {
			for _, value := range m {
				text, _ := value.(string)
				size += len(text) * 5 / 4 // with escapes; to grow step by step would copy it again and again
			}
		}
	}
	out := append(make([]byte, 0, size), '[')
	for i := range changes {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = changes[i].appendJSON(out); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// DecodeChanges reads what EncodeChanges wrote.
func DecodeChanges(journal []byte) ([]RowChange, error) {
	var changes []RowChange
	if err := json.Unmarshal(journal, &changes); err != nil {
		return nil, problem.New(problem.Unreadable, "", "the journal in the receipt cannot be read: %v", err)
	}
	return changes, nil
}

func (c *RowChange) appendJSON(out []byte) ([]byte, error) {
	out = append(out, `{"table":`...)
	out, err := jsontext.AppendQuote(out, c.Table)
	if err != nil {
		return nil, err
	}
	out = strconv.AppendInt(append(out, `,"row":`...), int64(c.Row), 10)
	if out, err = c.Before.appendJSON(append(out, `,"before":`...)); err != nil {
		return nil, err
	}
	if out, err = c.After.appendJSON(append(out, `,"after":`...)); err != nil {
		return nil, err
	}
	if c.Loose {
		out = append(out, `,"loose":true`...)
	}
	return append(out, '}'), nil
}

// appendJSON writes null for a row that does not exist.
func (m Image) appendJSON(out []byte) ([]byte, error) {
	if m == nil {
		return append(out, "null"...), nil
	}
	return AppendImage(out, slices.Sorted(maps.Keys(m)), func(column string) any { return m[column] })
}

// AppendImage appends the image of some columns, which are in their order.
func AppendImage(out []byte, columns []string, value func(column string) any) ([]byte, error) {
	out = append(out, '{')
	for i, column := range columns {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = jsontext.AppendQuote(out, column); err != nil {
			return nil, err
		}
		if out, err = appendValue(append(out, ':'), value(column)); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendValue(out []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...), nil
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case string:
		if utf8.ValidString(v) {
			return jsontext.AppendQuote(out, v)
		}
		return append(base64.StdEncoding.AppendEncode(append(out, `{"text":"`...), []byte(v)), `"}`...), nil
	case float64:
		if !math.IsNaN(v) { // which SQLite stores as NULL
			return append(strconv.AppendFloat(append(out, `{"real":"`...), v, 'x', -1, 64), `"}`...), nil
		}
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(out, `{"blob":"`...), v), `"}`...), nil
	}
	return nil, fmt.Errorf("a journal cannot hold a value of type %T (%v)", value, value)
}

// MarshalJSON writes the image as EncodeChanges does.
func (m Image) MarshalJSON() ([]byte, error) { return m.appendJSON(nil) }

// journalValue is a value that is being read.
type journalValue struct{ v any }

// encodedValue is the form of the values that JSON has no exact form for.
type encodedValue struct {
	Text []byte  `json:"text,omitempty"`
	Real string  `json:"real,omitempty"`
	Blob *[]byte `json:"blob,omitempty"` // may be empty
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Image) UnmarshalJSON(b []byte) error {
	var values map[string]journalValue
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	*m = nil
	if values == nil {
		return nil
	}
	*m = make(Image, len(values))
	for column, value := range values {
		(*m)[column] = value.v
	}
	return nil
}

// UnmarshalJSON reads one value.
func (j *journalValue) UnmarshalJSON(b []byte) error {
	*j = journalValue{}
	switch b[0] {
	case 'n':
		return nil
	case '"':
		var s string
		err := json.Unmarshal(b, &s)
		j.v = s
		return err
	case '{':
		return j.decodeObject(b)
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("a journal holds the value %s, which is no integer", b)
	}
	j.v = n
	return nil
}

// decodeObject reads a value in the form of an object.
func (j *journalValue) decodeObject(b []byte) error {
	var e encodedValue
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	switch {
	case e.Text != nil:
		j.v = string(e.Text)
	case e.Blob != nil:
		j.v = *e.Blob
	default:
		f, err := strconv.ParseFloat(e.Real, 64)
		if err != nil {
			return fmt.Errorf("a journal holds a value of an unknown kind: %s", b)
		}
		j.v = f
	}
	return nil
}

// ErrMoved is the cause of a Begin that failed because the store was changed
// after it was backed up.
var ErrMoved = errors.New("the database was changed after it was backed up")

// ErrReplaced is the cause of an error about a store whose path leads to another file
// than the one that was opened: what was read or written is not what the next program
// finds. Of a store that is where it was it is ErrBeside, when a file that belongs to it
// is another one, and ErrForeignLog, when that is its log.
var (
	ErrReplaced   = errors.New("the path leads to another file")
	ErrBeside     = fmt.Errorf("a file beside it is another one: %w", ErrReplaced)
	ErrForeignLog = fmt.Errorf("it is the log: %w", ErrBeside)
)

// ErrElsewhere is the cause of an error about rows that somebody else changed, or has
// locked: others may be free.
var ErrElsewhere = errors.New("somebody else changes these rows")

// ErrUnknown is the cause of the error of a commit to which no answer came.
var ErrUnknown = errors.New("the commit was not answered")

// Transaction is the part of changing a store that does not depend on what is in it. One
// at a time: everything between Begin and Commit is stored as a whole or not at all.
type Transaction interface {
	// Version is a number that changes with each commit of somebody else, and not with
	// those of the Transaction: what was read since it was this holds.
	Version(ctx context.Context) (int64, error)
	// Begin locks the store for writing. It waits for another writer, for at
	// most two seconds.
	Begin(ctx context.Context) error
	// Journal is what Revert needs to take back what was written since Begin,
	// as JSON.
	Journal() ([]byte, error)
	// Trial does something within the transaction that is open and takes all of it back
	// again; its error is that of what was done. A store in which an undo of what was
	// just written cannot fail need not do it.
	TryChanges(ctx context.Context, do func() error) error
	// Commit fails with ErrReplaced, and rolls back, if the path of the store no longer
	// leads to it. After ErrUnknown nobody knows whether it was done.
	Commit(ctx context.Context) error
	Rollback() error
	// Replaced is the problem with a store that its path no longer leads to
	// (ErrReplaced), nil while it does. It can be asked after Close.
	Replaced() error
	// Close ends the work; an open transaction is rolled back. If one was committed, it
	// fails with ErrReplaced where the path does not lead to the store at the end.
	// Closing again does nothing.
	Close() error
	// Left is a sentence about files of the adapter that stay beside a closed store,
	// "" when none does.
	Left() string
}

// Editor is a database opened for changing. After an error of a write the transaction can
// only be rolled back. It must not be used by several goroutines at once.
//
// Its errors are problems: Busy when another process holds the database or changes
// it meanwhile, Unreadable when it cannot be written, RolledBack when a row is not what it
// was said to be, or when something else of the database would change with it.
type Editor interface {
	Transaction
	Writer
	// Lock keeps everybody else from changing the rows with some keys until the transaction
	// ends, and from adding rows to other tables that would belong to them. Where Begin does
	// that, and without a transaction, it does nothing. ErrElsewhere is the cause of its
	// error where somebody has locked one of them.
	Lock(ctx context.Context, rows Selection, belonging ...string) error
	// Derived declares columns of a table that the database keeps by itself, with triggers:
	// counters, times of the last change. It may change them with any row, the journal has
	// that, and Revert gives them back, also where they changed since.
	DeclareDerived(ctx context.Context, table string, columns ...string) error
	// Revert takes back, in the transaction that is open, what a journal tells, if that is
	// about these tables only: it comes from a file, and must not reach anything that no
	// repair writes. A row that is no longer what the journal says it became is a problem of
	// class Busy, and then the transaction must be rolled back.
	Revert(ctx context.Context, journal []byte, tables ...string) error
}

// Writer changes rows.
type Writer interface {
	// Reader reads what there is.
	Reader() Reader
	// Insert adds a row. Columns without a field get their defaults.
	Insert(ctx context.Context, table string, row []Field) (Place, error)
	// Update changes columns of a row. Unless each of them holds exactly its old value,
	// nothing is changed.
	Update(ctx context.Context, table string, at Place, fields []FieldChange) error
	// Delete removes a row, which must exist. Rows that refer to it must be gone or refer
	// elsewhere before.
	Delete(ctx context.Context, table string, at Place) error
	// Numbers are so many numbers for a column, higher than all that were ever given out
	// as far as the database knows, and ascending.
	ReserveNumbers(ctx context.Context, table, column string, count int) ([]int64, error)
}

// RowPlace stands for a column with the place of a row itself, where Insert is given one
// of its Numbers: no row gets a place that another one had.
const RowPlace = "rowid"

// Field is a value for a column.
type Field struct {
	Name  string
	Value any
}

// FieldChange is a new value for a column that holds the old one.
type FieldChange struct {
	Name     string
	Old, New any
}
