package jsonscan

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decoder decodes texts into structs as json.Unmarshal does with Options, several times as
// fast where they have the usual forms: it passes over the members that a struct does not
// name.
type Decoder struct {
	Options json.Options // with AllowDuplicateNames
	Fold    bool         // with MatchCaseInsensitiveNames
	NaN     bool         // takes the numbers besides that Python's json takes: see MaskNaN

	plans sync.Map // of types of structs
}

// Exact takes JSON as JSON.parse, serde and Jackson do: names as they are spelled, of doubled
// ones the last, and U+FFFD for what is no Unicode.
var Exact = Decoder{Options: json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}

// Go takes JSON as encoding/json does: names in every case, of doubled ones the last, and
// U+FFFD for what is no Unicode. Names in snake, camel and Pascal case are alike besides.
var Go = Decoder{
	Options: json.JoinOptions(json.MatchCaseInsensitiveNames(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	Fold:    true,
}

// Skipped is a field for a member that has to be JSON, whatever it says.
type Skipped struct{}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (Skipped) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

// TextSetter is what a type is that decodes itself, where it takes a string as it is.
type TextSetter interface{ SetText(text string) }

// Unmarshal decodes a text into a value. The jsontext.Values within are parts of the text
// where the options of decoding leave that open, so that the text must not change while
// they are used. Errors are those of json.Unmarshal.
func (d *Decoder) Unmarshal(text []byte, into any) error {
	to := reflect.ValueOf(into).Elem()
	if d.scanValue(text, to) {
		return nil
	}
	if d.NaN {
		if masked := MaskNaN(text); len(text) > 0 && &masked[0] != &text[0] {
			if d.scanValue(masked, to) {
				copy(masked, text) // the values within are parts of it
				return nil
			}
			text = masked
		}
	}
	return json.Unmarshal(text, into, d.Options)
}

// scanValue decodes a text of the usual form; where ok is false, the value is zero again.
func (d *Decoder) scanValue(text []byte, to reflect.Value) (ok bool) {
	r := runs.Get().(*run)
	r.Decoder, r.Scanner = d, NewScanner(text)
	ok = r.decodeValue(to, d.planOf(to.Type())) && r.IsAtEnd() && r.IsUnicode()
	r.Scanner = Scanner{}
	runs.Put(r)
	if !ok {
		to.SetZero()
	}
	return ok
}

// DescribeError words an error of Unmarshal without what the text says: writer is who stored it.
func DescribeError(err error, writer string) string {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONKind != jsontext.KindInvalid {
		if wrong.JSONPointer == "" {
			return fmt.Sprintf("it is JSON of another type than %s stores", writer)
		}
		return fmt.Sprintf("%q holds a value of another type than %s stores there", string(wrong.JSONPointer), writer)
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && len(syntax.JSONPointer) > 0 {
		return fmt.Sprintf("it is not valid JSON from byte %d on", syntax.ByteOffset)
	}
	return "it is not JSON, or it is cut off"
}

// plan says how values of a type are consumed.
type plan struct {
	form   form
	of     *plan        // of what a pointer leads to, or of the elements of a list
	fields Names[field] // of a struct; folded where names are matched whatever their case
	whole  bool         // a member that no field names has a place, too: that is left to json
}

type field struct {
	*plan
	index []int
	bit   uint64 // one of its own
}

// form is how a value is consumed.
type form uint8

const (
	other   form = iota // as only json knows
	raw                 // a jsontext.Value
	skipped             // a Skipped
	itself              // json leaves it to the type's own method
	pointer
	text
	truth
	object
	list
	members // a map of jsontext.Values by their names
)

var (
	valueType   = reflect.TypeFor[jsontext.Value]()
	membersType = reflect.TypeFor[map[string]jsontext.Value]()
)

func (d *Decoder) planOf(t reflect.Type) *plan {
	if known, ok := d.plans.Load(t); ok {
		return known.(*plan)
	}
	made := map[reflect.Type]*plan{}
	p := d.compilePlan(t, made)
	for t, p := range made {
		d.plans.Store(t, p)
	}
	return p
}

// compilePlan makes the plans of a type, and of those within it.
func (d *Decoder) compilePlan(t reflect.Type, made map[reflect.Type]*plan) *plan {
	p := made[t]
	if p != nil {
		return p
	}
	p = &plan{}
	made[t] = p
	switch {
	case t == valueType:
		p.form = raw
	case t == reflect.TypeFor[Skipped]():
		p.form = skipped
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.UnmarshalerFrom]()):
		p.form = itself
	case t.Kind() == reflect.Pointer:
		p.form, p.of = pointer, d.compilePlan(t.Elem(), made)
	case t.Kind() == reflect.String:
		p.form = text
	case t.Kind() == reflect.Bool:
		p.form = truth
	case t.Kind() == reflect.Struct:
		p.form = object
		d.compileFields(p, t, made)
	case t.Kind() == reflect.Slice:
		p.form, p.of = list, d.compilePlan(t.Elem(), made)
	case t.ConvertibleTo(membersType):
		p.form = members
	}
	return p
}

func (d *Decoder) compileFields(p *plan, t reflect.Type, made map[reflect.Type]*plan) {
	count := 0
	for _, f := range reflect.VisibleFields(t) {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
		case rest != "":
			p.whole = true
		case name != "" && f.IsExported():
			if d.Fold {
				name = string(appendFolded(nil, []byte(name)))
			}
			p.fields.Set(name, field{d.compilePlan(f.Type, made), f.Index, 1 << count})
			count++
		}
	}
}

// appendFolded appends a name without what does not count where its case does not; nil where it
// has characters beyond ASCII.
func appendFolded(to, name []byte) []byte {
	for _, c := range name {
		switch {
		case c >= utf8.RuneSelf:
			return nil
		case c == '_' || c == '-':
		case c >= 'A' && c <= 'Z':
			to = append(to, c+'a'-'A')
		default:
			to = append(to, c)
		}
	}
	return to
}

// run is the decoding of one text.
type run struct {
	*Decoder
	Scanner
	buf    []byte
	recent Recent
}

var runs = sync.Pool{New: func() any { return new(run) }}

// decodeValue consumes a value into one that is zero.
func (r *run) decodeValue(to reflect.Value, p *plan) bool {
	first := r.PeekByte()
	switch {
	case p.form == raw:
		raw, ok := r.ReadValue()
		to.SetBytes(raw)
		return ok
	case p.form == skipped:
		return r.passValue()
	case p.form == itself:
		return r.decodeItself(to, first)
	case first == 'n':
		return r.ReadWord("null")
	}
	switch p.form {
	case pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return r.decodeValue(to.Elem(), p.of)
	case text:
		text, ok := r.decodeText()
		to.SetString(text)
		return ok
	case truth:
		to.SetBool(first == 't')
		return r.ReadWord("true") || r.ReadWord("false")
	case object:
		return r.decodeObject(to, p)
	case list:
		return r.decodeList(to, p.of)
	case members:
		return r.decodeMap(to)
	}
	return r.decodeRest(to)
}

func (r *run) decodeObject(to reflect.Value, p *plan) bool {
	var seen uint64
	var buf [64]byte
	return r.VisitMembers(func(name []byte) bool {
		if r.Fold {
			if len(name) > len(buf) {
				return false
			}
			if name = appendFolded(buf[:0], name); name == nil {
				return false
			}
		}
		f := FindName(&p.fields, name)
		if f == nil {
			return !p.whole && r.passValue()
		}
		if seen&f.bit != 0 { // how two of a name merge is left to json
			return false
		}
		seen |= f.bit
		if len(f.index) == 1 {
			return r.decodeValue(to.Field(f.index[0]), f.plan)
		}
		return r.decodeValue(to.FieldByIndex(f.index), f.plan)
	})
}

func (r *run) decodeList(to reflect.Value, of *plan) bool {
	to.Grow(1) // an empty list is not nil
	return r.VisitElements(func() bool {
		n := to.Len()
		to.Grow(1)
		to.SetLen(n + 1)
		to.Index(n).SetZero()
		return r.decodeValue(to.Index(n), of)
	})
}

func (r *run) decodeMap(to reflect.Value) bool {
	all := map[string]jsontext.Value{}
	to.Set(reflect.ValueOf(all).Convert(to.Type()))
	return r.VisitMembers(func(name []byte) bool {
		raw, ok := r.ReadValue()
		all[r.recent.KeepText(name)] = raw
		return ok
	})
}

// decodeItself consumes a value of a type that decodes itself.
func (r *run) decodeItself(to reflect.Value, first byte) bool {
	if setter, ok := to.Addr().Interface().(TextSetter); ok && first == '"' {
		text, ok := r.decodeText()
		setter.SetText(text)
		return ok
	}
	return r.decodeRest(to)
}

// decodeRest consumes a value that only json knows how to decode.
func (r *run) decodeRest(to reflect.Value) bool {
	raw, ok := r.ReadValue()
	return ok && json.Unmarshal(raw, to.Addr().Interface(), r.Options) == nil
}

func (r *run) decodeText() (_ string, ok bool) {
	r.buf, ok = r.AppendText(r.buf[:0])
	return r.recent.KeepText(r.buf), ok
}
