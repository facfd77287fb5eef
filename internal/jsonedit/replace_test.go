package jsonedit_test

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
)

func TestReplace(t *testing.T) {
	tests := []struct {
		name, doc string
		with      map[string]string
		want      string // "" for a refusal
	}{
		{"nothing", ` { "a" : 1.0e0 } `, nil, ` { "a" : 1.0e0 } `},
		{"several", `{"a": "x", "b" :[1,{"c":"x"}]}`, map[string]string{"/a": `"y"`, "/b/1/c": `"longer"`}, `{"a": "y", "b" :[1,{"c":"longer"}]}`},
		{"a name like the value", `{"x":"x"}`, map[string]string{"/x": `"y"`}, `{"x":"y"}`},
		{"an element", `["a" , null,true]`, map[string]string{"/1": `2`, "/2": `false`}, `["a" , 2,false]`},
		{"doubled names", `{"a":1,"a":2}`, map[string]string{"/a": `3`}, `{"a":3,"a":3}`},
		{"the whole document", ` "x" `, map[string]string{"": `"y"`}, ` "y" `},
		{"names with escapes", `{"a/b":{"\u007e":"x"}}`, map[string]string{"/a~1b/~0": `1`}, `{"a/b":{"\u007e":1}}`},
		{"bad text stays", "{\"a\":\"\xff\\ud800\",\"b\":1}", map[string]string{"/b": `2`}, "{\"a\":\"\xff\\ud800\",\"b\":2}"},
		{"an object", `{"a":{}}`, map[string]string{"/a": `1`}, ""},
		{"no place", `{"a":1}`, map[string]string{"/b": `1`}, ""},
		{"no value", `{"a":1}`, map[string]string{"/a": `x`}, ""},
		{"a document that breaks off", `{"a":1,"b":`, map[string]string{"/a": `1`}, ""},
		{"more than one document", `{"a":1}}`, map[string]string{"/a": `1`}, ""},
		{"no document", ``, map[string]string{"": `1`}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			with := map[string][]byte{}
			for pointer, value := range tt.with {
				with[pointer] = []byte(value)
			}
			got, err := jsonedit.ReplaceValues([]byte(tt.doc), with)
			if (err != nil) != (tt.want == "") || string(got) != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

// FuzzReplace holds one value that is replaced against Set.
func FuzzReplace(f *testing.F) {
	for _, doc := range []string{`{"a":1,"b":[{"c":null},2],"":{}}`, ` { "a" : { "b" : 1 } } `, `[[1],"x"]`, `7`, `{"a~/b":"x"}`} {
		for _, pointer := range []string{"", "/", "/a", "/a/b", "/b/0/c", "/0", "/0/0", "/a~0~1b"} {
			f.Add([]byte(doc), pointer)
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, pointer string) {
		got, err := jsonedit.ReplaceValues(doc, map[string][]byte{pointer: []byte(`"another"`)})
		if err != nil {
			return
		}
		if strict := jsontext.Value(doc).IsValid(); !strict || !json.Valid(doc) {
			return // doubled names and what is no text are read in more than one way
		}
		if want, err := jsonedit.SetValue(doc, pointer, []byte(`"another"`)); err != nil || string(got) != string(want) {
			t.Fatalf("Replace(%s, %q) = %s, Set gives %s (%v)", doc, pointer, got, want, err)
		}
	})
}
