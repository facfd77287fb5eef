package find_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/find"
	"github.com/sessctl/sessctl/internal/session"
)

// TestLacksNothingThatIsThere: however a text is written into JSON, and that into JSON again, no
// word of it is said to be lacking.
func TestLacksNothingThatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runes := rapid.SliceOfN(rapid.SampledFrom([]rune("aAkKsStheu0041 .-_\\\"/\n<é\u212aſ\x00")), 1, 40).Draw(t, "text")
		text := string(runes)
		from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
		word := string(runes[from:rapid.IntRange(from+1, len(runes)).Draw(t, "to")])
		if rapid.Bool().Draw(t, "upper") {
			word = strings.ToUpper(word)
		}
		q := find.Query{Words: find.SplitWords(`"` + word + `"`)}
		tree := &session.Tree{Sessions: []*session.Session{{Items: []session.Item{{Body: &session.Body{Text: text}}}}}}
		lacks := q.Lacks()
		if lacks == nil || len(q.InTree(tree, 0).Hits) == 0 {
			return
		}
		stored := text
		for range rapid.IntRange(1, 3).Draw(t, "levels") {
			var b strings.Builder
			for _, r := range stored {
				switch {
				case r == '"' || r == '\\' || r < ' ' || rapid.IntRange(0, 5).Draw(t, "escape") == 0:
					fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[rapid.IntRange(0, 1).Draw(t, "digits")], r)
				default:
					b.WriteRune(r)
				}
			}
			stored = `{"text":"` + b.String() + `"}`
		}
		if lacking := lacks([]byte(stored)); lacking != 0 {
			t.Fatalf("%q of %q lacks %b", word, stored, lacking)
		}
	})
}

// TestLacks: what is lacking is told, where no ASCII letter is escaped.
func TestLacks(t *testing.T) {
	for _, tc := range []struct {
		typed, stored string
		want          uint64
	}{
		{"docker", "a DOCKERfile", 0},
		{"docker", `a dock\n`, 1},
		{"docker", `{"a":"\u003cdock\u0065\u0072"}`, 0},
		{"docker", `{"a":"{\"b\":\"dock\\u0065r\"}"}`, 0},
		{"docker", `{"a":"\u003cdock\u00e9d"}`, 1},
		{"docker", "doc\x00ker", 0},
		{"docker", "doc\u212aer", 1},
		{"docker image-x café", "docker caf\u00e9", 2},
		{`"exit code 3"`, "exit code 4", 1},
		{`"two (words)"`, "words, two", 0},
		{"café", "caf", 0},
	} {
		if got := (&find.Query{Words: find.SplitWords(tc.typed)}).Lacks()([]byte(tc.stored)); got != tc.want {
			t.Errorf("%s in %s: lacks %b, want %b", tc.typed, tc.stored, got, tc.want)
		}
	}
	for _, typed := range []string{"é", "a", `"("`, "image", "doc"} {
		if (&find.Query{Words: find.SplitWords(typed)}).Lacks() != nil {
			t.Errorf("%s is looked for in bytes, and the name of an attachment, or what JSON writes in several ways, is not always stored", typed)
		}
	}
}
