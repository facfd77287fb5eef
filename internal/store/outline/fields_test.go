package outline

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// forgotten are the fields that no outline keeps, each with the reason. Whoever adds a
// field to the model packs it, or says here why it may go.
var forgotten = map[string]string{
	"Item.Body":   "an outline has no texts; Fill loads it",
	"Call.Args":   "an outline has no texts; Form says what they are",
	"Result.Text": "an outline has no texts; Digest stands for it",

	"Shared.Home": "docker agent, whose items alone are packed, never says it",
	"Item.Copied": "as Home",
	"Item.Passed": "as Home",
	"Call.Owed":   "as Home",
}

// TestEveryFieldIsKeptOrGivenUp sets one field of an item, or of what it holds, at a time.
func TestEveryFieldIsKeptOrGivenUp(t *testing.T) {
	var each func(typ reflect.Type, of func(*session.Item) reflect.Value)
	each = func(typ reflect.Type, of func(*session.Item) reflect.Value) {
		for i := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(i).Name
			field := func(it *session.Item) reflect.Value { return of(it).Field(i) }
			in := session.Item{Shared: &session.Shared{}}
			holds := fill(field(&in))
			log := NewLog()
			log.AddItem(0, &in)
			var out session.Item
			for out = range log.Items(0) {
			}
			if kept := cmp.Equal(in, out); kept == (forgotten[name] != "") {
				t.Errorf("%s: kept: %v, reason to forget it: %q", name, kept, forgotten[name])
			}
			if holds != nil && forgotten[name] == "" {
				each(holds, func(it *session.Item) reflect.Value {
					v := field(it)
					fill(v)
					for v.Kind() == reflect.Slice || v.Kind() == reflect.Pointer {
						if v.Kind() == reflect.Slice {
							v = v.Index(0)
						} else {
							v = v.Elem()
						}
					}
					return v
				})
			}
		}
	}
	each(reflect.TypeFor[session.Item](), func(it *session.Item) reflect.Value { return reflect.ValueOf(it).Elem() })
}

// fill makes a value that is not the zero one, and returns the type of the struct that
// it holds, nil for none.
func fill(v reflect.Value) reflect.Type {
	if _, is := v.Interface().(time.Time); is {
		v.Set(reflect.ValueOf(time.Unix(1770000000, 5).UTC()))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(2)
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(2)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
		return v.Type()
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if elem := v.Type().Elem(); elem.Kind() == reflect.Struct {
			return elem
		}
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if elem := v.Type().Elem(); elem.Kind() == reflect.Struct {
			return elem
		}
		return fill(v.Elem())
	default:
		panic("no value for a " + v.Type().String())
	}
	return nil
}
