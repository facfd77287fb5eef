package diff

import (
	"slices"
	"testing"
)

func TestMembers(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       []string
	}{
		{"equal but for white space", `{"a":1,"b":[1, 2]}`, ` {"b":[1,2], "a": 1}`, nil},
		{"another value", `{"a":1,"cost":0.1}`, `{"a":1,"cost":0.2}`, []string{"/cost"}},
		{"another form of a number", `{"a":1}`, `{"a":1.0}`, []string{"/a"}},
		{"added and gone", `{"a":1}`, `{"b":1}`, []string{"/a", "/b"}},
		{"a name that needs an escape", `{"a/b~c":1}`, `{}`, []string{"/a~1b~0c"}},
		{"doubled names", `{"a":1,"a":2}`, `{"a":2}`, nil},
		{"no object", `[1]`, `{"a":1}`, nil},
		{"no JSON", `{`, `{"a":1}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := differingMembers([]byte(tt.a), []byte(tt.b)); !slices.Equal(got, tt.want) {
				t.Errorf("members(%s, %s) = %q, want %q", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

func FuzzMembers(f *testing.F) {
	f.Add(`{"a":1}`, `{"a":"\ud800"}`)
	f.Add("{\"a\":\"\xff\"}", `{"a":{"b":[]}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		there, back := differingMembers([]byte(a), []byte(b)), differingMembers([]byte(b), []byte(a))
		if !slices.Equal(there, back) {
			t.Errorf("%q one way, %q the other", there, back)
		}
		if same := differingMembers([]byte(a), []byte(a)); same != nil {
			t.Errorf("a record differs from itself in %q", same)
		}
	})
}
