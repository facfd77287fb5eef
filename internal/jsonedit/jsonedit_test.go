package jsonedit_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/jsonedit"
)

func TestSet(t *testing.T) {
	tests := []struct {
		name, doc, pointer, value, want string
	}{
		{"a member", `{"a":1,"b":2}`, "/b", `"x"`, `{"a":1,"b":"x"}`},
		{"deep inside", `{"calls":[{"id":"a"},{"id":"b"}]}`, "/calls/1/id", `"c"`, `{"calls":[{"id":"a"},{"id":"c"}]}`},
		{"white space and forms of numbers stay", " {\t\"a\" : 1.50e+0 ,\n\"b\" :  2 } ", "/b", `3`, " {\t\"a\" : 1.50e+0 ,\n\"b\" :  3 } "},
		{"escapes stay", `{"\u0061":"\u00e9","b":1}`, "/b", `2`, `{"\u0061":"\u00e9","b":2}`},
		{"an escaped name", `{"\u0061":1}`, "/a", `2`, `{"\u0061":2}`},
		{"a name with a slash and a tilde", `{"a/b~c":1}`, "/a~1b~0c", `2`, `{"a/b~c":2}`},
		{"an empty name", `{"":1}`, "/", `2`, `{"":2}`},
		{"the whole document", ` [1] `, "", `2`, ` 2 `},
		{"bad text stays", "{\"a\":\"\xff\\ud800\",\"b\":1}", "/b", `2`, "{\"a\":\"\xff\\ud800\",\"b\":2}"},
		{"the way leads through the last of doubled names", `{"a":{"b":1},"a":{"b":2}}`, "/a/b", `3`, `{"a":{"b":1},"a":{"b":3}}`},
		{"all doubled members get the value", `{"a":1,"b":0,"a":2}`, "/a", `3`, `{"a":3,"b":0,"a":3}`},
		{"a document that breaks off", `{"a":1,"b":{"c`, "/a", `2`, `{"a":2,"b":{"c`},
		{"a new member", `{"a":1}`, "/b", `2`, `{"a":1,"b":2}`},
		{"a new member behind white space", "{\"a\":1\n}", "/b", `2`, "{\"a\":1,\"b\":2\n}"},
		{"a new member of an empty object", `{"a":{ }}`, "/a/b", `2`, `{"a":{"b":2 }}`},
		{"a new member with a name that needs escapes", `{}`, "/a\"b", `2`, `{"a\"b":2}`},
		{"an element", `[1, 2, 3]`, "/1", `[ ]`, `[1, [ ], 3]`},

		{"take the first member away", `{ "a":1, "b":2 }`, "/a", "", `{ "b":2 }`},
		{"take the last member away", `{ "a":1, "b":2 }`, "/b", "", `{ "a":1 }`},
		{"take a member out of the middle", `{"a":1 , "b":2, "c":3}`, "/b", "", `{"a":1, "c":3}`},
		{"take the only member away", `{ "a":1 }`, "/a", "", `{  }`},
		{"take doubled members away", `{"a":1,"a":2,"b":3,"a":4,"c":5,"a":6}`, "/a", "", `{"b":3,"c":5}`},
		{"take doubled members away, and nothing stays", `{"a":1,"a":2}`, "/a", "", `{}`},
		{"take an element away", `[1,2,3]`, "/0", "", `[2,3]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := []byte(tt.doc)
			var value []byte
			if tt.value != "" {
				value = []byte(tt.value)
			}
			got, err := jsonedit.SetValue(doc, tt.pointer, value)
			if err != nil || string(got) != tt.want {
				t.Errorf("Set = %s, %v\nwant %s", got, err, tt.want)
			}
			if string(doc) != tt.doc {
				t.Errorf("the document became %s", doc)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	tests := []struct {
		name, doc, pointer, value string
	}{
		{"a pointer without a slash", `{"a":1}`, "a", `2`},
		{"a way that is not there", `{"a":1}`, "/b/c", `2`},
		{"a way through a text", `{"a":"b"}`, "/a/b", `2`},
		{"an index beyond the list", `[1]`, "/1", `2`},
		{"an index with a zero in front", `[1,2]`, "/01", `2`},
		{"a new member where the document breaks off", `{"a":1,`, "/b", `2`},
		{"a value that is no JSON", `{"a":1}`, "/a", `{`},
		{"two values", `{"a":1}`, "/a", `1 2`},
		{"taking away what is not there", `{"a":1}`, "/b", ""},
		{"taking the document away", `{"a":1}`, "", ""},
		{"no JSON", `hello`, "", `1`},
		{"nothing", ``, "/a", `1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var value []byte
			if tt.value != "" {
				value = []byte(tt.value)
			}
			if got, err := jsonedit.SetValue([]byte(tt.doc), tt.pointer, value); err == nil {
				t.Errorf("Set = %s, want an error", got)
			}
		})
	}
}

func TestRaw(t *testing.T) {
	const doc = ` {"a":[1, {"b" : 1.0e2}],"c":"\u00e9","c":"x"} `
	tests := []struct {
		pointer, want string
		found         bool
	}{
		{"", `{"a":[1, {"b" : 1.0e2}],"c":"\u00e9","c":"x"}`, true},
		{"/a/1", `{"b" : 1.0e2}`, true},
		{"/a/1/b", `1.0e2`, true},
		{"/c", `"x"`, true},
		{"/a/2", "", false},
		{"/d", "", false},
		{"/c/d", "", false},
		{"c", "", false},
	}
	for _, tt := range tests {
		got, found := jsonedit.RawValue([]byte(doc), tt.pointer)
		if string(got) != tt.want || found != tt.found {
			t.Errorf("Raw(%q) = %s, %t; want %s, %t", tt.pointer, got, found, tt.want, tt.found)
		}
	}
}
