package jsonedit

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestRequote(t *testing.T) {
	const python = `"{\"contextId\": \"old-1\", \"text\": \"caf\u00e9 \ud83d\ude00 \\u00e9 \\\" \/\t\u0022\", \"id\": \"\u006fld-2\"}"`
	tests := []struct {
		name, quoted string
		change       *strings.Replacer
		want         string
	}{
		{"nothing", python, strings.NewReplacer(), python},
		{"one id", python, strings.NewReplacer("old-1", "new-1"), strings.Replace(python, "old-1", "new-1", 1)},
		{"an id of another length", python, strings.NewReplacer("old-1", "x"), strings.Replace(python, "old-1", "x", 1)},
		{"two ids", python, strings.NewReplacer("old-1", "new-11", "old-2", "new-2"), strings.NewReplacer("old-1", "new-11", `\u006fld-2`, "new-2").Replace(python)},
		{"characters that begin alike", `"{\"a\":\"\u00e9\",\"b\":\"\u00e9\"}"`, strings.NewReplacer(`"a":"é"`, `"a":"è"`), `"{\"a\":\"è\",\"b\":\"\u00e9\"}"`},
		{"a member more", `"{\"a\":\"\u00e9\",\"b\":1}"`, strings.NewReplacer(`,`, `,"c":"é",`), `"{\"a\":\"\u00e9\",\"c\":\"é\",\"b\":1}"`},
		{"a member less", `"{\"a\":\"\u00e9\",\"b\":1,\"c\":\"\u00e8\"}"`, strings.NewReplacer(`,"b":1`, ``), `"{\"a\":\"\u00e9\",\"c\":\"\u00e8\"}"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			was, err := jsontext.AppendUnquote(nil, tt.quoted)
			if err != nil {
				t.Fatal(err)
			}
			if got := Requote([]byte(tt.quoted), was, []byte(tt.change.Replace(string(was)))); string(got) != tt.want {
				t.Errorf("%s\nnot %s", got, tt.want)
			}
		})
	}
}

// TestRequoteHolds: whatever the documents are, the string holds the new one.
func TestRequoteHolds(t *testing.T) {
	documents := rapid.Custom(func(t *rapid.T) string {
		texts := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\/\n\x01éè€😀\u2028"))), 0, 4).Draw(t, "texts")
		doc := []byte("[")
		for i, text := range texts {
			if i > 0 {
				doc = append(doc, ',')
			}
			doc, _ = jsontext.AppendQuote(doc, text)
		}
		return string(append(doc, ']'))
	})
	rapid.Check(t, func(t *rapid.T) {
		was, is := documents.Draw(t, "was"), documents.Draw(t, "is")
		quoted, _ := jsontext.AppendQuote(nil, was)
		if rapid.Bool().Draw(t, "as Python") {
			quoted = asPython(was)
		}
		got, err := jsontext.AppendUnquote(nil, Requote(quoted, []byte(was), []byte(is)))
		if err != nil || string(got) != is {
			t.Fatalf("%s holds %s, not %s (%v)", quoted, got, is, err)
		}
	})
}

// asPython is a text as json.dumps writes it.
func asPython(text string) []byte {
	quoted, _ := jsontext.AppendQuote(nil, text)
	out := make([]byte, 0, len(quoted))
	for _, r := range string(quoted) {
		if r < 0x80 {
			out = append(out, byte(r))
			continue
		}
		units := []rune{r}
		if first, second := utf16.EncodeRune(r); first != utf8.RuneError {
			units = []rune{first, second}
		}
		for _, unit := range units {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
