// Package docedit changes single values of one stored row, and leaves every other byte of
// it: columns, and values in the JSON documents that columns hold. An adapter says where
// each value of an item stands; how a change of it is written is the same for all.
package docedit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Record is a row as it is stored.
type Record interface {
	Value(column string) any // nil, int64, float64, string or []byte
	HasColumn(column string) bool
}

// Spot is where a value stands: in a column, or in the document that a column holds.
type Spot struct {
	Column  string
	Pointer jsontext.Pointer
}

// Member is a member of the object at a spot.
func (s Spot) Member(name string) Spot { return Spot{s.Column, s.Pointer.AppendToken(name)} }

// Element is an element of the list at a spot.
func (s Spot) Element(n int) Spot { return s.Member(strconv.Itoa(n)) }

// Holder is what a value is a member or an element of.
func (s Spot) Holder() Spot { return Spot{s.Column, s.Pointer.Parent()} }

// Row is a row while it is being changed. Its errors are problems of class RolledBack.
type Row struct {
	Record
	columns []string // that change, in the order in which they were changed first
	values  map[string]any
	indexes map[string]*jsonedit.Index // of the documents as they are, by column
}

// NewRow begins to change a row.
func NewRow(record Record) *Row {
	return &Row{Record: record, values: map[string]any{}, indexes: map[string]*jsonedit.Index{}}
}

// Now is what a column holds by now; Value is what is stored.
func (r *Row) Now(column string) any {
	if value, changed := r.values[column]; changed {
		return value
	}
	return r.Value(column)
}

// Set gives a column another value.
func (r *Row) Set(column string, value any) {
	if _, changed := r.values[column]; !changed {
		r.columns = append(r.columns, column)
	}
	r.values[column] = value
	delete(r.indexes, column)
}

// SetText gives a column another text, which stays a BLOB where the stored one is.
func (r *Row) SetText(name string, text []byte) {
	r.Set(name, column.Like(r.Value(name), string(text)))
}

// Changes are the columns that hold something else now.
func (r *Row) Changes() []table.FieldChange {
	var list []table.FieldChange
	for _, column := range r.columns {
		list = append(list, table.FieldChange{Name: column, Old: table.CloneValue(r.Value(column)), New: r.values[column]})
	}
	return list
}

// Document is the text of a column by now, which must not be changed.
func (r *Row) Document(name string) []byte { return column.Bytes(r.Now(name)) }

// SetField gives a column, or behind its name a value in the document that it holds, another
// value; nil takes it away. A column keeps the type that it has.
func (r *Row) SetField(field string, to *string) error {
	name, pointer, inside := strings.Cut(field, "/")
	if inside {
		var value jsontext.Value
		if to != nil && *to != "" {
			value = jsontext.Value(*to)
		}
		return r.Put(Spot{name, jsontext.Pointer("/" + pointer)}, value)
	}
	var value any
	if to != nil {
		var err error
		switch r.Value(name).(type) {
		case []byte:
			value = []byte(*to)
		case int64:
			value, err = strconv.ParseInt(*to, 10, 64)
		case float64:
			value, err = strconv.ParseFloat(*to, 64)
		default:
			value = *to
		}
		if err != nil {
			return problem.New(problem.RolledBack, "", "%s cannot be set to %q: it holds numbers", name, *to)
		}
	}
	r.Set(name, value)
	return nil
}

// Raw is the text of a value in a document, nil when there is none, null included.
func (r *Row) Raw(at Spot) jsontext.Value {
	x := r.indexes[at.Column]
	if x == nil {
		x = jsonedit.NewIndex(r.Document(at.Column))
		r.indexes[at.Column] = x
	}
	value, ok := x.Raw(string(at.Pointer))
	if !ok || string(value) == "null" {
		return nil
	}
	return value
}

// Text is a string in a document, "" for any other value. U+FFFD replaces what is not
// Unicode.
func (r *Row) Text(at Spot) string { return textOf(r.Raw(at)) }

// Elements are the values of a list in a document.
func (r *Row) Elements(at Spot) []Spot {
	var values []jsontext.Value
	if tolerant.Unmarshal(r.Raw(at), &values) != nil {
		return nil
	}
	list := make([]Spot, len(values))
	for i := range list {
		list[i] = at.Element(i)
	}
	return list
}

// OfType is the nth element of a list whose member type is this one, and an element that
// does not exist where there are fewer.
func (r *Row) OfType(at Spot, kind string, n int) Spot {
	all := r.Elements(at)
	for _, element := range all {
		if r.Text(element.Member("type")) != kind {
			continue
		}
		if n == 0 {
			return element
		}
		n--
	}
	return at.Element(len(all))
}

// tolerant takes what jsonedit takes.
var tolerant = jsonscan.Decoder{Options: jsonscan.Exact.Options, NaN: true}

func textOf(value jsontext.Value) string {
	if value.Kind() != jsontext.KindString {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

// Whole is a row of one column, which holds a document.
type Whole struct {
	Column string
	Text   []byte // is kept, and not changed
}

// HasColumn implements Record.
func (w Whole) HasColumn(column string) bool { return column == w.Column }

// Value implements Record.
func (w Whole) Value(column string) any {
	if w.HasColumn(column) {
		return w.Text
	}
	return nil
}

// QuoteText quotes a text as JSON, with U+FFFD for what is no Unicode.
func QuoteText(text string) jsontext.Value {
	value, _ := jsontext.AppendQuote(nil, text)
	return value
}

// Put gives a value in a document another one; nil takes it away.
func (r *Row) Put(at Spot, value jsontext.Value) error {
	doc, err := jsonedit.SetValue(r.Document(at.Column), string(at.Pointer), value)
	if err != nil {
		return NotAsRead(at.Column)
	}
	r.SetText(at.Column, doc)
	return nil
}

// ShowNUL makes each U+0000 in the values at some spots text that shows it.
func (r *Row) ShowNUL(spots ...Spot) error {
	for _, at := range spots {
		raw := r.Raw(at)
		if shown := jsonedit.ShowNUL(raw); len(shown) != len(raw) {
			if err := r.Put(at, shown); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceValues gives several texts, numbers or literals of a document others at once, by their
// pointers.
func (r *Row) replaceValues(column string, values map[string][]byte) error {
	doc, err := jsonedit.ReplaceValues(r.Document(column), values)
	if err != nil {
		return NotAsRead(column)
	}
	r.SetText(column, doc)
	return nil
}

// NotAsRead is the error about a column that does not hold what was read of it.
func NotAsRead(column string) error {
	return problem.New(problem.RolledBack, "Check the store again.", "its %s does not hold what was read before", column)
}

// ReadStored reads what a row holds now.
func ReadStored(ctx context.Context, db table.Reader, name string, at table.Place, columns ...string) (values []table.Value, err error) {
	unread, err := db.Rows(ctx, name, columns, []table.Place{at}, func(_ int, row []table.Value) error {
		for _, value := range row {
			values = append(values, table.CloneValue(value))
		}
		return nil
	})
	if err == nil && len(unread) > 0 {
		err = NotAsRead(columns[0])
	}
	return values, err
}

// Form is how a value is written.
type Form int

// The forms. An Optional value is not there at all where it is empty: a member that is
// missing, a column that is NULL.
const (
	Nowhere Form = iota // the store has no place for it
	Text                // a string in a document
	JSON                // a value in a document, as it is
	Column              // the text of the column itself
	Follows             // it is read of other values: nothing is written for it
)

// Place is where and how a value of an item is stored.
type Place struct {
	Spot
	Form     Form
	Optional bool
	// Within is where the value stands in the document that the text at Spot holds, "" where
	// it stands at Spot itself.
	Within jsontext.Pointer
	// Same reports whether what is stored, JSON in a document, is what was read as this
	// value; nil where it has to be the same text.
	Same func(stored jsontext.Value, was string) bool
	// Write, where it is not nil, writes what is no single value of one of these forms. It
	// is called when all others are written and what leaves is gone.
	Write func() error
}

// Apply makes a row say what becomes of the item in it: place says where its values stand,
// result what leaves with one of its results, in the order of the document. A value
// without a place is refused, and a row that does not hold what was read of it. Of an item
// that is a part of its row, it is the part that is changed, and result is where it is.
func (r *Row) Apply(c *change.Item, place func(v change.Value) Place, result func(nth int) Spot) error {
	err := r.applyValues(c, place, result)
	if err == nil {
		return nil
	}
	next := "Check the store again."
	if p, ok := errors.AsType[*problem.Error](err); ok {
		next = p.Next
	}
	return problem.New(problem.RolledBack, next, "record %s cannot be changed: %v", c.Was.Key, err)
}

// applyValues writes the values that take the place of others at once: an item can have
// thousands.
func (r *Row) applyValues(c *change.Item, place func(v change.Value) Place, result func(nth int) Spot) error {
	if c.Part >= 0 && r.Raw(result(c.Part)) == nil {
		return NotAsRead(result(c.Part).Column)
	}
	replaced := map[string]map[string][]byte{} // by column and pointer
	var steps, last []func() error
	for _, v := range c.Values {
		if c.Part >= 0 && v.Of == change.OfItem {
			continue // the new row is made of the item
		}
		p := place(v)
		switch {
		case p.Write != nil:
			last = append(last, p.Write)
			continue
		case p.Form == Nowhere:
			return problem.New(problem.RolledBack, "", "a store of this kind cannot change %s", v.Name())
		case p.Form == Follows:
			continue
		}
		stored := jsontext.Value(replaced[p.Column][string(p.Pointer)]) // with another value within it
		if stored == nil {
			stored = r.storedText(&p)
		}
		now, ok := p.editedText(stored, v)
		switch {
		case !ok:
			return NotAsRead(p.Column)
		case p.Form == Column && now == nil:
			r.Set(p.Column, nil)
		case p.Form == Column:
			r.SetText(p.Column, now)
		case !isScalar(stored) || !isScalar(now):
			steps = append(steps, func() error { return r.Put(p.Spot, now) })
		case replaced[p.Column] == nil:
			replaced[p.Column] = map[string][]byte{string(p.Pointer): now}
		default:
			replaced[p.Column][string(p.Pointer)] = now
		}
	}
	for _, nth := range slices.Backward(c.Taken) {
		at := result(nth)
		steps = append(steps, func() error { return r.Put(at, nil) })
	}
	for _, column := range slices.Sorted(maps.Keys(replaced)) {
		if err := r.replaceValues(column, replaced[column]); err != nil {
			return err
		}
	}
	for _, step := range append(steps, last...) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// storedText is what is stored at a place: JSON, or the text of a column.
func (r *Row) storedText(p *Place) jsontext.Value {
	if p.Form == Column {
		return r.Document(p.Column)
	}
	return r.Raw(p.Spot)
}

// editedText is what stands at a place from now on, nil for nothing; false where what is stored
// there is not what was known of it.
func (p *Place) editedText(stored jsontext.Value, v change.Value) (now jsontext.Value, ok bool) {
	switch {
	case p.Optional && v.Is == "":
	case p.Form == Text:
		now = QuoteText(v.Is)
	default:
		now = jsontext.Value(v.Is)
	}
	if p.Within == "" {
		return now, p.isAsKnown(stored, v.Was)
	}
	was, err := jsontext.AppendUnquote(nil, stored)
	if value, _ := jsonedit.RawValue(was, string(p.Within)); err != nil || !p.isAsKnown(value, v.Was) {
		return nil, false
	}
	is, err := jsonedit.SetValue(was, string(p.Within), now)
	if err != nil {
		return nil, false
	}
	return jsonedit.Requote(stored, was, is), true
}

// isAsKnown reports whether a stored value is what was known of it.
func (p *Place) isAsKnown(stored jsontext.Value, was string) bool {
	switch {
	case p.Same != nil:
		return p.Same(stored, was)
	case p.Form == Text && stored != nil:
		return stored.Kind() == jsontext.KindString && textOf(stored) == was
	}
	return string(stored) == was
}

func isScalar(value jsontext.Value) bool {
	switch value.Kind() {
	case jsontext.KindString, jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
		return true
	}
	return false
}
