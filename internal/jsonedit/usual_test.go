package jsonedit

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// What is read in the usual forms of JSON is read as the decoder reads it.
func TestUsualFormsAreReadAlike(t *testing.T) {
	value := rapid.SampledFrom([]string{`1`, `-2e9`, `"x"`, `"\ud800"`, "\"\xff\"", `"\u00e9\n"`, `null`, `true`, `{}`, `[]`, `{"a":[1,{"b":2}]}`, `[1 , 2]`, `{"a" :1,}`, `[`, `tru`, ``})
	name := rapid.SampledFrom([]string{`"a"`, `"b"`, `""`, `"\u0061"`, "\"\xff\"", `"parentUuid"`, `a`})
	space := rapid.SampledFrom([]string{"", " ", "\n\t"})
	rapid.Check(t, func(t *rapid.T) {
		doc := space.Draw(t, "before") + "{"
		for n := range rapid.IntRange(0, 4).Draw(t, "members") {
			if n > 0 {
				doc += ","
			}
			doc += space.Draw(t, "a") + name.Draw(t, "name") + space.Draw(t, "b") + ":" + space.Draw(t, "c") + value.Draw(t, "value") + space.Draw(t, "d")
		}
		doc += rapid.SampledFrom([]string{"}", "} ", "", "}x", ",}"}).Draw(t, "end")
		whole, decoded := wholeDocument([]byte(doc)), decodeDocument([]byte(doc))
		if !reflect.DeepEqual(whole, decoded) {
			t.Fatalf("%q: the document is %+v, decoded %+v", doc, whole, decoded)
		}
		for _, p := range whole.parts {
			if scanned, usual := scanInside([]byte(doc), p); usual && !reflect.DeepEqual(scanned, decodeInside([]byte(doc), p)) {
				t.Fatalf("%q: it holds %+v, decoded %+v", doc, scanned, decodeInside([]byte(doc), p))
			}
		}
	})
}

func TestReplaceMembers(t *testing.T) {
	with := func(name string, value []byte) []byte {
		if name == "a" {
			return []byte(`"` + string(value) + `"`)
		}
		return nil
	}
	for doc, want := range map[string]string{
		`{"a":1,"b":{"a":2},"a" : 3 }`: `{"a":"1","b":{"a":2},"a" : "3" }`, `{"b":1}`: `{"b":1}`, `[1]`: `[1]`, `7`: `7`, ``: ``,
		`{"a":1,"b":"x`: `{"a":"1","b":"x`, `{"\u0061":1}`: `{"\u0061":"1"}`, `{"a":NaN}`: `{"a":"NaN"}`,
	} {
		if got := string(ReplaceMembers([]byte(doc), with)); got != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}
