package springai

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestUnquoted(t *testing.T) {
	for _, tt := range []struct {
		literal, want string
		bad           bool
	}{
		{`""`, "", false},
		{`"\u00e9\ud83d\ude00\n\\ud83d"`, "é😀\n\\ud83d", false},
		{`"a\ud83d"`, "a\xff", true},
		{`"\ude00\ud83d\u0041"`, "\xff\xffA", true},
		{"\"caf\xc3\"", "caf\xc3", true},
		{"\"\xc3\\n\xa9\"", "\xc3\n\xa9", true},
		{"\"\ufffd\"", "\ufffd", false},
	} {
		if text, bad := unquoteText([]byte(tt.literal)); text != tt.want || bad != tt.bad {
			t.Errorf("%s: got %q, %t", tt.literal, text, bad)
		}
	}
}

func TestUnquotedIsWhatWasQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		literal, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, bad := unquoteText(literal); got != text || bad {
			t.Fatalf("got %q, %t", got, bad)
		}
	})
}
