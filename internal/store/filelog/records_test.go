package filelog_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// TestRecords: which records come out of lines that cannot be read, and what is left over.
func TestRecords(t *testing.T) {
	is := func(text []byte) bool { return jsonscan.IsUsualJSON(text) && bytes.HasPrefix(text, []byte(`{"rec":`)) }
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"whole":                      {`{"rec":1}` + "\n" + `{"rec":2}`, []string{`{"rec":1}`, `{"rec":2}`}},
		"two":                        {`{"rec":1}{"rec":2}` + "\n", []string{`{"rec":1}`, `{"rec":2}`}},
		"behind one that was cut":    {`{"rec":"abc{"rec":2}` + "\n", []string{`{"rec":"abc`, `{"rec":2}`}},
		"in place of a value":        {`{"rec":{"rec":2}` + "\n", []string{`{"rec":`, `{"rec":2}`}},
		"before the end of another":  {`{"rec":1}c","d":3}` + "\n", []string{`{"rec":1}`, `c","d":3}`}},
		"NUL bytes":                  {"\x00\x00" + `{"rec":1}` + "\x00\n\x00\n" + `{` + "\x00" + `"rec":2}`, []string{`{"rec":1}`, `{"rec":2}`}},
		"a line end in a text":       {`{"rec":"a` + "\n\n" + `b"}` + "\n", []string{`{"rec":"a\n\nb"}`}},
		"between the lines of CRLF":  {`{"rec":0}` + "\r\n" + `{"rec":"a` + "\r\n" + `b"}` + "\r\n", []string{`{"rec":0}`, `{"rec":"a\nb"}`}},
		"CRLF in a text":             {`{"rec":0}` + "\n" + `{"rec":"a` + "\r\n" + `b"}`, []string{`{"rec":0}`, `{"rec":"a\u000d\nb"}`}},
		"a line end between members": {`{"rec":` + "\n" + `"a"}`, []string{`{"rec":"a"}`}},
		"no record within":           {`{"x":{"rec":1},"y"` + "\n" + `nothing`, []string{`{"x":{"rec":1},"y"`, `nothing`}},
		"a value of what was cut":    {`{"x":{"rec":1},"y` + `{"rec":2}` + "\n", []string{`{"x":{"rec":1},"y`, `{"rec":2}`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for at, err := range filelog.Over(strings.NewReader(tc.text)).Records(t.Context(), is) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(at.Text))
				if again := at.In([]byte(tc.text)); !bytes.Equal(again, at.Text) {
					t.Errorf("%q at its place", again)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNested: objects within each other that were all cut off are given up in time.
func TestNested(t *testing.T) {
	text, n := strings.Repeat(`{"a":`, 200_000), 0
	for _, err := range filelog.Over(strings.NewReader(text)).Records(t.Context(), func([]byte) bool { return false }) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d lines", n)
	}
}
