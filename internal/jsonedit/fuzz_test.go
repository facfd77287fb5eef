package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
)

// FuzzSet compares edits with what the standard library decodes before and
// after them.
func FuzzSet(f *testing.F) {
	for _, doc := range []string{
		`{"a":1,"b":[{"c":null},2],"":{}}`, ` { "a" : { "b" : 1 } , "a" : { } } `, `[]`, `[[1],"x"]`, `7`, `{"a~/b":"\ud800"}`,
	} {
		for _, pointer := range []string{"", "/", "/a", "/a/b", "/b/0/c", "/0", "/0/0", "/a~0~1b"} {
			f.Add([]byte(doc), pointer, []byte(`{"x": [1]}`))
			f.Add([]byte(doc), pointer, []byte(nil))
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, pointer string, value []byte) {
		if len(value) == 0 {
			value = nil
		}
		got, err := jsonedit.SetValue(doc, pointer, value)
		if err != nil || !utf8.Valid(doc) || !json.Valid(doc) {
			return
		}
		want := set(decoded(t, doc), slices.Collect(jsontext.Pointer(pointer).Tokens()), value, t)
		if after := decoded(t, got); !reflect.DeepEqual(after, want) {
			t.Fatalf("Set(%s, %q, %s) = %s", doc, pointer, value, got)
		}
		if raw, found := jsonedit.RawValue(got, pointer); found != (value != nil) || !bytes.Equal(raw, bytes.TrimSpace(value)) {
			if !isIndex(pointer) || value != nil { // behind a removed element comes the next one
				t.Fatalf("Raw(%s, %q) = %s, %t", got, pointer, raw, found)
			}
		}
	})
}

// FuzzOtherBytes replaces a value by itself, which must change nothing.
func FuzzOtherBytes(f *testing.F) {
	f.Add([]byte(`{"a" :[1.0, {"\u0062":"\xff"}] , "c`), "/a/1/b")
	f.Fuzz(func(t *testing.T, doc []byte, pointer string) {
		raw, found := jsonedit.RawValue(doc, pointer)
		if !found || !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			return
		}
		marked, err := jsonedit.SetValue(doc, pointer, []byte(`"\u0000 a mark"`))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(marked, []byte(`"\u0000 a mark"`)) != 1 {
			return // doubled names, or a document that holds the mark
		}
		if back := bytes.Replace(marked, []byte(`"\u0000 a mark"`), raw, 1); !bytes.Equal(back, doc) {
			t.Fatalf("Set(%q, %q) = %q", doc, pointer, marked)
		}
	})
}

func isIndex(pointer string) bool {
	_, err := strconv.Atoi(jsontext.Pointer(pointer).LastToken())
	return err == nil
}

func decoded(t *testing.T, doc []byte) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

// set is Set for decoded values.
func set(v any, path []string, value []byte, t *testing.T) any {
	if len(path) == 0 {
		return decoded(t, value)
	}
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 && value == nil {
			delete(v, path[0])
		} else {
			v[path[0]] = set(v[path[0]], path[1:], value, t)
		}
		return v
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(path) == 1 && value == nil {
			return slices.Delete(v, i, i+1)
		}
		v[i] = set(v[i], path[1:], value, t)
		return v
	}
	t.Fatalf("%T has no parts", v)
	return nil
}
