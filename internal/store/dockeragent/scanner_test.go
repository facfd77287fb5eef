package dockeragent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/jsonscan"

	"github.com/sessctl/sessctl/internal/session"
)

// Every character goes through the fast path in Go's own form and in no other.
func TestTextTakesGoFormOnly(t *testing.T) {
	for c := rune(0); c <= 0x10ffff; c++ {
		if c >= 0x3000 && c%97 != 0 && c != 0xfffd { // all of the low ones, a sample of the others
			continue
		}
		if c >= 0xd800 && c <= 0xdfff {
			continue
		}
		own := string(quoteText(string(c)))
		forms := []string{own, `"` + string(c) + `"`}
		if c <= 0xffff {
			forms = append(forms, fmt.Sprintf(`"\u%04x"`, c), fmt.Sprintf(`"\u%04X"`, c))
		}
		for _, form := range forms {
			var text literal
			s := scanner{Scanner: jsonscan.NewScanner([]byte(form))}
			if got, want := s.readLiteral(&text) && s.IsAtEnd(), form == own; got != want && json.Valid([]byte(form)) {
				t.Errorf("%s: taken %v, want %v", form, got, want)
			}
		}
	}
}

// The scanner looks at eight bytes at a time: what it looks for must be found
// at each place of a word, of the rest behind the last word, and behind others.
func TestStringAtEveryOffset(t *testing.T) {
	const valid, bad = true, false
	tests := []struct {
		piece string
		ok    bool
		form  form
	}{
		{"", valid, 0},
		{"é", valid, wide},
		{"\xff", valid, wide},
		{"\x7f", valid, 0},
		{`\n`, valid, escaped},
		{`\\\"`, valid, escaped},
		{`\u003c`, valid, escaped},
		{`\u000b\u2028`, valid, escaped},
		{`\u00e9`, valid, escaped | irregular},
		{`\u003C`, valid, escaped | irregular},
		{`\u001F`, valid, escaped | irregular},
		{`\/`, valid, escaped | irregular},
		{`<`, valid, irregular},
		{`>`, valid, irregular},
		{`&`, valid, irregular},
		{"\n", bad, 0},
		{"\x00", bad, 0},
		{"\x1f", bad, 0},
		{`\x`, bad, 0},
		{`\u00g0`, bad, 0},
		{`\u12`, bad, 0},
		{`\`, bad, 0}, // escapes the closing quote
	}
	for _, tt := range tests {
		for before := range 20 {
			for after := range 20 {
				literal := `"` + strings.Repeat("a", before) + tt.piece + strings.Repeat(" ", after) + `"`
				if !tt.ok && after > 0 && tt.piece == `\` {
					continue // then it escapes a space, which is bad for another reason
				}
				s := scanner{Scanner: jsonscan.NewScanner([]byte(" " + literal))}
				raw, f, ok := s.readString()
				if ok != tt.ok || ok && (string(raw) != literal || f != tt.form || !s.IsAtEnd()) {
					t.Fatalf("%q: got %q %03b %v, want %03b %v", literal, raw, f, ok, tt.form, tt.ok)
				}
				if ok != json.Valid([]byte(literal)) {
					t.Fatalf("%q: encoding/json says otherwise", literal)
				}
			}
		}
	}
}

func TestUnfinishedStrings(t *testing.T) {
	whole := `"abcdefgh\n\u003cij\\k\"lmnop é"`
	for n := range len(whole) {
		s := scanner{Scanner: jsonscan.NewScanner([]byte(whole[:n]))}
		if _, _, ok := s.readString(); ok {
			t.Errorf("%s is taken for a string", whole[:n])
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "1", "10", "-12", "0.5", "1.25e10", "1E+5", "1e-5", "123456789012345678", "1234567890123456789",
		"", "-", "+1", "01", ".5", "1.", "1.e5", "1e", "1e+", "1eE5", "1e+-5", "0x1", "1_000", "Infinity", "NaN", "1 2",
	} {
		var whole int64
		s := scanner{Scanner: jsonscan.NewScanner([]byte(text))}
		if ok := s.readInteger(&whole) && s.IsAtEnd(); ok {
			if n, err := strconv.ParseInt(text, 10, 64); err != nil || n != whole || !json.Valid([]byte(text)) {
				t.Errorf("%q is taken for %d", text, whole)
			}
		}
		var float float64
		s = scanner{Scanner: jsonscan.NewScanner([]byte(text))}
		ok := s.readFloat(&float) && s.IsAtEnd()
		if n, err := strconv.ParseFloat(text, 64); ok != json.Valid([]byte(text)) || ok && (err != nil || n != float) {
			t.Errorf("%q: number %v, value %g", text, ok, float)
		}
	}
}

func TestBase64(t *testing.T) {
	piece := strings.Repeat("QUJD", 256) // 1 KB
	tests := map[string]bool{
		"":                          true,
		"QQ==":                      true,
		"QQ=":                       false,
		"QQ":                        false,
		"Q-_=":                      false,
		piece:                       true,
		piece + "QQ==":              true,
		piece + piece + "QUI=":      true,
		piece[4:] + "QQ==" + "QUJD": false,
		piece[:1023] + "*":          false,
	}
	for text, want := range tests {
		data := `"` + text + `"`
		s := scanner{Scanner: jsonscan.NewScanner([]byte(data))}
		var upstream []byte
		if err := json.Unmarshal([]byte(data), &upstream); (err == nil) != want {
			t.Fatalf("%.20s (%d bytes): encoding/json says %v", text, len(text), err)
		}
		if got := s.readBase64(new([]byte)); got != want {
			t.Errorf("%.20s (%d bytes): %v, want %v", text, len(text), got, want)
		}
	}
}

func TestBlank(t *testing.T) {
	for c := rune(0); c <= 0x3100; c++ {
		for _, text := range []string{string(c), " " + string(c), string(c) + "\n", string(c) + "x"} {
			if got, want := quoteText(text).isBlank(), strings.TrimSpace(text) == ""; got != want {
				t.Errorf("%q: blank %v, want %v", text, got, want)
			}
			if got, want := quoteText(text).endsInSpace(), session.TextFlags(text).Has(session.TrailingSpace); got != want {
				t.Errorf("%q: ends in white space %v, want %v", text, got, want)
			}
		}
	}
}

// A definition that was checked is known again, and only the same one.
func TestDefinitionsAreKnownAgain(t *testing.T) {
	start := `{"role":"assistant","content":"","tool_definitions":[{"name":"a_tool_with_a_name_longer_than_what_is_looked_up_of_a_definition","description":"`
	var d decoder
	for range 2 {
		for ending, want := range map[string]bool{
			`x"}]}`:                  true,
			`x"},{"name":"b"}]}`:     true,
			`x","category":"y"}]}`:   true,
			`x","category":1}]}`:     false,
			`x"}{}]}`:                false,
			`x"}`:                    false,
			`x","parameters":[{}}]}`: false,
		} {
			if got := d.decodeFast([]byte(start + ending)); got != want {
				t.Errorf("…%s: %v, want %v", ending, got, want)
			}
		}
	}
}
