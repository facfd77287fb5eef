package table_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/sessctl/sessctl/internal/store/table"
)

func TestImageJSONForms(t *testing.T) {
	image := table.Image{"a": nil, "b": int64(math.MaxInt64), "c": "x", "d": "\xff", "e": 1.5, "f": []byte{0, 1}, "g": []byte{}}
	b, err := json.Marshal(image)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":null,"b":9223372036854775807,"c":"x","d":{"text":"/w=="},"e":{"real":"0x1.8p+00"},"f":{"blob":"AAE="},"g":{"blob":""}}`
	if string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
	for _, bad := range []string{`{"a":1.5}`, `{"a":true}`, `{"a":[]}`, `{"a":{}}`, `{"a":{"real":"x"}}`, `{"a":9223372036854775808}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &image); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
	if _, err := json.Marshal(table.Image{"a": 1}); err == nil {
		t.Error("an int was written")
	}
}

// Columns are kept unique by an index of all rows over some of them and nothing else.
func TestUnique(t *testing.T) {
	unique := func(columns ...string) table.Index { return table.Index{Columns: columns, Unique: true} }
	for _, c := range []struct {
		name  string
		index table.Index
		want  bool
	}{
		{"the same columns", unique("id", "talk"), true},
		{"in another order", unique("talk", "id"), true},
		{"one of them", unique("id"), true},
		{"another one besides", unique("id", "talk", "user"), false},
		{"an expression", unique("id", ""), false},
		{"not unique", table.Index{Columns: []string{"id"}}, false},
		{"of some rows", table.Index{Columns: []string{"id"}, Unique: true, Partial: true}, false},
	} {
		if got := (table.Table{Indexes: []table.Index{c.index}}).IsUnique("id", "talk"); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
