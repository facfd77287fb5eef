package jsonscan

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestMask(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"a":NaN,"b":[Infinity, -Infinity,NaN]}`, `{"a":0e0,"b":[0.000000, -0.000000,0e0]}`},
		{`NaN`, `0e0`},
		{`-Infinity`, `-0.000000`},
		{`{"NaN":"NaN, \"Infinity\" \\","b":NaN}`, `{"NaN":"NaN, \"Infinity\" \\","b":0e0}`},
		{`{"a":"Infinity`, `{"a":"Infinity`},
		// What Python refuses stays what it is.
		{`[-NaN]`, `[-NaN]`}, {`[1NaN]`, `[1NaN]`}, {`[--Infinity]`, `[--Infinity]`}, {`[+Infinity]`, `[+Infinity]`}, {`[nan]`, `[nan]`}, {`["a"NaN]`, `["a"NaN]`},
	} {
		if got := string(MaskNaN([]byte(tt.text))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
	text := []byte(`{"a":1}`)
	if masked := MaskNaN(text); &masked[0] != &text[0] {
		t.Error("a text without such numbers was copied")
	}
}

// Values are given as they are stored.
func TestPythonsNumbers(t *testing.T) {
	var into struct {
		Args jsontext.Value `json:"args"`
		Rest []struct {
			Name  string   `json:"name"`
			Score *float64 `json:"score"`
		} `json:"rest"`
	}
	text := `{"args":{"x":NaN,"y":[-Infinity]},"rest":[{"name":"NaN","score":Infinity}],"other":NaN}`
	python := Decoder{Options: Exact.Options, NaN: true}
	if err := python.Unmarshal([]byte(text), &into); err != nil {
		t.Fatal(err)
	}
	if string(into.Args) != `{"x":NaN,"y":[-Infinity]}` || into.Rest[0].Name != "NaN" {
		t.Errorf("%+v", into)
	}
	if Exact.Unmarshal([]byte(text), &into) == nil {
		t.Error("a reader of JSON took NaN")
	}
}
