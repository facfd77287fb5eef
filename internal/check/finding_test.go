package check

import (
	"reflect"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// A report keeps every finding, and must not keep a tree with them.
func TestAFindingHoldsNothingOfTheTree(t *testing.T) {
	held := map[reflect.Type]bool{
		reflect.TypeFor[session.Tree](): true, reflect.TypeFor[session.Session](): true, reflect.TypeFor[session.Item](): true,
		reflect.TypeFor[rules.Pass](): true, reflect.TypeFor[rules.Subject](): true,
	}
	of := map[reflect.Type]bool{reflect.TypeFor[rules.Rule](): true, reflect.TypeFor[rules.Profile](): true} // values of the program
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		if held[typ] || typ.Kind() == reflect.Func || typ.Kind() == reflect.Interface {
			t.Errorf("%s can hold a tree: %s", path, typ)
		}
		if of[typ] {
			return
		}
		of[typ] = true
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(typ.Elem(), path)
		case reflect.Struct:
			for i := range typ.NumField() {
				walk(typ.Field(i).Type, path+"."+typ.Field(i).Name)
			}
		}
	}
	walk(reflect.TypeFor[Finding](), "Finding")
}
