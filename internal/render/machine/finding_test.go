package machine

import (
	"reflect"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// untold are the facts of a finding that machines do not read, each with the reason.
var untold = map[string]string{
	"Line":   "Row names the same line",
	"Calls":  "the message names them",
	"Deep":   "it says with which flag it was found, which is the reader's own",
	"Hides":  "the message says what is not sent",
	"Causes": "they weigh a recorded refusal, and `why` lists the findings that fit it",
	"Viewer": "the message says whose request it is",
	"Was":    "the message says that it got worse, and the baseline how bad it was",
}

// TestMachinesReadEveryFactOfAFinding: whoever adds a fact decides whether jsonFinding
// has it.
func TestMachinesReadEveryFactOfAFinding(t *testing.T) {
	bare := func() *check.Finding { return &check.Finding{Defect: rules.Defect{Rule: catalogue.FindRule("SC101")}} }
	var each func(typ reflect.Type, index []int)
	each = func(typ reflect.Type, index []int) {
		for i := range typ.NumField() {
			field, at := typ.Field(i), append(index[:len(index):len(index)], i)
			if field.Anonymous {
				each(field.Type, at)
				continue
			}
			if !field.IsExported() {
				continue
			}
			f := bare()
			value := reflect.ValueOf(f).Elem().FieldByIndex(at)
			fill(value)
			if told := !reflect.DeepEqual(findingObject("s.db", f), findingObject("s.db", bare())); told == (untold[field.Name] != "") {
				t.Errorf("%s: in the JSON: %v, reason to leave it out: %q", field.Name, told, untold[field.Name])
			}
		}
	}
	each(reflect.TypeFor[check.Finding](), nil)
}

// fill gives a value that is not the zero one.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		switch v.Interface().(type) {
		case *rules.Rule:
			v.Set(reflect.ValueOf(catalogue.FindRule("SC102")))
		case *rules.Profile:
			v.Set(reflect.ValueOf(rules.FindProfile("anthropic")))
		case *check.Head:
			v.Set(reflect.ValueOf(&check.Head{ID: "R"}))
		default:
			v.Set(reflect.New(v.Type().Elem()))
		}
	}
}
