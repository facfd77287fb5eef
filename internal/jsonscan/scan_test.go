package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// texts are JSON and what is none, and whether the scanner takes them.
var texts = []struct {
	text  string
	takes bool
}{
	{` {"a" : [1, -0.5e+10, true , false, null, "x\n\u00e9", {}], "b":[ ]} `, true},
	{`"Grüße and a \" behind eight bytes \\"`, true},
	{`"\ud83d\ude00 \uD83D\uDE00 \uD7FF\uE000"`, true},
	{`"\ud83d"`, false},
	{`"\ud83d\ud83d"`, false},
	{`"\ude00"`, false},
	{`"\ude00\ud83d"`, false},
	{`"\ud83d\u0041"`, false},
	{`"\ud83d\n"`, false},
	{`"\ud83d\ude0"`, false},
	{`"\u00g0"`, false},
	{`"\x"`, false},
	{`"\`, false},
	{`"`, false},
	{"\"a\tb\"", false},
	{"\"\xff\xfe\"", true}, // and Unicode says that it is none
	{strings.Repeat("[", deepest) + strings.Repeat("]", deepest), true},
	{strings.Repeat("[", deepest+2) + strings.Repeat("]", deepest+2), false},
	{`01`, false}, {`1.`, false}, {`-`, false}, {`1e`, false}, {`+1`, false}, {`.5`, false},
	{`tru`, false}, {`[1,]`, false}, {`{"a"}`, false}, {`{"a":1,}`, false}, {`[}`, false}, {``, false}, {`{} {}`, false}, {"{}\x00", false},
}

func TestValue(t *testing.T) {
	for _, tt := range texts {
		s := NewScanner([]byte(tt.text))
		raw, ok := s.ReadValue()
		if takes := ok && s.IsAtEnd(); takes != tt.takes {
			t.Errorf("%q: takes it: %t", tt.text, takes)
		} else if takes && string(raw) != strings.TrimSpace(tt.text) {
			t.Errorf("%q: %q", tt.text, raw)
		}
		agree(t, []byte(tt.text))
	}
}

// FuzzValue holds that what the scanner takes is JSON for the decoders that it goes before,
// and that it finds the same members and elements whichever way it goes.
func FuzzValue(f *testing.F) {
	for _, tt := range texts {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(agree)
}

func agree(t *testing.T, text []byte) {
	if IsUsualJSON(text) && (!json.Valid(text) || !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))) {
		t.Errorf("%q is no JSON", text)
	}
	s := NewScanner(text)
	walked := walk(&s) && s.IsAtEnd()
	other := NewScanner(text)
	_, passed := other.ReadValue()
	if walked && (!passed || !other.IsAtEnd()) {
		t.Errorf("%q: walked, and not passed over", text)
	}
	if walked && s.IsUnicode() != other.IsUnicode() {
		t.Errorf("%q: walked and passed over differ", text)
	}
}

// walk goes into every object and array.
func walk(s *Scanner) bool {
	switch s.PeekByte() {
	case '{':
		return s.VisitMembers(func([]byte) bool { return walk(s) })
	case '[':
		return s.VisitElements(func() bool { return walk(s) })
	case '"':
		inner, plain, ok := s.ReadText()
		return ok && plain == !strings.Contains(string(inner), `\`)
	}
	_, ok := s.ReadValue()
	return ok
}

// FuzzHas holds that a text is found where bytes finds it.
func FuzzHas(f *testing.F) {
	f.Add([]byte("a context in onfirmationfirmation"), "ontext")
	f.Add([]byte("x"), "")
	f.Add([]byte("vinvocation_i\"invocation_id\""), `"invocation_id"`)
	f.Fuzz(func(t *testing.T, doc []byte, text string) {
		if got := text != "" && HasText(doc, text); got != (text != "" && strings.Contains(string(doc), text)) {
			t.Errorf("%q in %q: %t", text, doc, got)
		}
	})
}
