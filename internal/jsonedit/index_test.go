package jsonedit

import (
	"fmt"
	"strings"
	"testing"
)

func TestIndex(t *testing.T) {
	docs := []string{
		`{"a": [1, {"b": "x"}, [ ]], "a~b/c": {"": null}, "a2": true}`, `{"a":1,"a":{"b":2},"": {"":3}}`, ` [[[0]], {"0": 1}] `,
		`"text"`, ``, `{"a": [1, 2`, `{"a": {"b": 1}, "c"`, `nonsense`,
	}
	pointers := []string{
		"", "/", "//", "/a", "/a/0", "/a/1", "/a/1/b", "/a/2", "/a/2/0", "/a/3", "/a/-1", "/a/00", "/a/+1", "/a/b", "/a~0b~1c", "/a~0b~1c/", "/a2/x",
		"/0", "/0/0", "/0/0/0", "/1/0", "/c", "a", "/~",
	}
	for _, doc := range docs {
		x := NewIndex([]byte(doc))
		for _, pointer := range append(pointers, pointers...) { // the second time from what is known
			got, ok := x.Raw(pointer)
			want, there := RawValue([]byte(doc), pointer)
			if string(got) != string(want) || ok != there {
				t.Errorf("%q in %s: %q, %v; Raw says %q, %v", pointer, doc, got, ok, want, there)
			}
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{100, 3000} {
		doc := []byte(`{"parts":[` + strings.Repeat(`{"call":{"id":"c","answer":{"text":"done"}}},`, n-1) + `{}]}`)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				x := NewIndex(doc)
				for i := range n {
					x.Raw(fmt.Sprintf("/parts/%d/call/answer/text", i))
				}
			}
		})
	}
}
