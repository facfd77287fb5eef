package members

import (
	"slices"
	"strings"
	"testing"
)

// values are those of which pydantic 2.13 was asked which it takes, for a JSON text and for
// what json.loads makes of one alike.
const values = `null true false 0 1 2 1.0 1.5 -1 1e3 NaN 99999999999999999999 1e30 "" "x" "1" "01" "1." "1.0" "1.00" "1.5" ".5" "1e3" "true" "YES" "t" "off" "NaN" "inf" "_1" "1_0" "1__0" "+1" "0x1" "QQ==" "QQ" "Q" "QR==" "a-_b" "a+/b" "a-+_" "é" [] ["x"] [1] [null] {} {"a":1} {"text":"a"}`

// TestAsPydantic holds what the table takes against what pydantic took.
func TestAsPydantic(t *testing.T) {
	for kind, taken := range map[string]string{
		"int":           `null true false 0 1 2 1.0 -1 1e3 99999999999999999999 "1" "01" "1.0" "1.00" "1_0" "+1"`,
		"number":        `null true false 0 1 2 1.0 1.5 -1 1e3 NaN 99999999999999999999 1e30 "1" "01" "1." "1.0" "1.00" "1.5" ".5" "1e3" "NaN" "inf" "1_0" "+1"`,
		"bool":          `null true false 0 1 1.0 "1" "true" "YES" "t" "off"`,
		"{any}":         `null {} {"a":1} {"text":"a"}`,
		"[text]":        `null [] ["x"]`,
		"bytes":         `null "" "true" "1_0" "1__0" "QQ==" "QQ" "a-_b" "a+/b"`,
		"{number}":      `null {} {"a":1}`,
		"Transcription": `null {} {"text":"a"}`,
	} {
		for _, value := range strings.Fields(values) {
			if kind == "Transcription" && value == `{"a":1}` {
				continue // a name that the model does not have
			}
			wrong := slices.ContainsFunc(Check(Python, kind, []byte(value)), func(w Wrong) bool { return !w.Loose })
			if want := !slices.Contains(strings.Fields(taken), value); wrong != want {
				t.Errorf("%s %s: refused %v, want %v", kind, value, wrong, want)
			}
		}
	}
}

// TestAsGo does the same with encoding/json.
func TestAsGo(t *testing.T) {
	for kind, taken := range map[string]string{
		"int":    `null 0 1 2 -1`,
		"number": `null 0 1 2 1.0 1.5 -1 1e3 99999999999999999999 1e30`,
		"bool":   `null true false`,
		"bytes":  `null "" "true" "QQ==" "QR==" "a+/b"`,
		"[text]": `null [] ["x"] [null]`,
	} {
		for _, value := range strings.Fields(values) {
			if value == "NaN" {
				continue // no JSON
			}
			wrong := slices.ContainsFunc(Check(Go, kind, []byte(value)), func(w Wrong) bool { return !w.Loose })
			if want := !slices.Contains(strings.Fields(taken), value); wrong != want {
				t.Errorf("%s %s: refused %v, want %v", kind, value, wrong, want)
			}
		}
	}
}

// TestRareForms takes texts that only a full decoder reads: names with escapes, and deep ones.
// TestAsKotlin: kotlinx.serialization takes numbers and truths in quotes, and no text without.
func TestAsKotlin(t *testing.T) {
	for kind, taken := range map[string]string{
		"int":    `null 0 1 2 -1 "1" "01" "+1"`,
		"bool":   `null true false "true"`,
		"text":   `null "" "x" "1" "01" "1." "1.0" "1.00" "1.5" ".5" "1e3" "true" "YES" "t" "off" "NaN" "inf" "_1" "1_0" "1__0" "+1" "0x1" "QQ==" "QQ" "Q" "QR==" "a-_b" "a+/b" "a-+_" "é"`,
		"[int]":  `null [] [1]`,
		"[text]": `null [] ["x"]`,
	} {
		for _, value := range strings.Fields(values) {
			if value == "NaN" || kind == "int" && value == `"1_0"` {
				continue
			}
			wrong := slices.ContainsFunc(Check(Kotlin, kind, []byte(value)), func(w Wrong) bool { return !w.Loose })
			if want := !slices.Contains(strings.Fields(taken), value); wrong != want {
				t.Errorf("%s %s: refused %v, want %v", kind, value, wrong, want)
			}
		}
	}
	for document, at := range map[string]string{
		`{"author":"a"}`: "", `{"author":"a","content":null,"unknown":5}`: "", `{"author":"a","content":{"parts":[{"thoughtSignature":[1,-2]}]}}`: "",
		`{}`: "/author", `{"author":null}`: "/author", `{"author":"a","partial":null}`: "/partial", `{"author":"a","content":{"parts":[{"text":5}]}}`: "/content/parts",
	} {
		got := ""
		for _, w := range Check(Kotlin, "Event!", []byte(document)) {
			got = string(w.Pointer)
		}
		if !strings.HasPrefix(got, at) || (got == "") != (at == "") {
			t.Errorf("%s: wrong at %q, want %q", document, got, at)
		}
	}
}

func TestRareForms(t *testing.T) {
	if got := Check(Python, "Event!", []byte(`{"author":"a","avg\u005flogprobs":"x","error_code":5,"error_code":"ok"}`)); len(got) != 1 || got[0].Pointer != "/avg_logprobs" {
		t.Errorf("got %+v", got)
	}
	if got := Check(Python, "EventCompaction", []byte(`{"start_timestamp":1}`)); len(got) != 1 || got[0].Pointer != "" || string(got[0].Fix) != "null" {
		t.Errorf("got %+v", got)
	}
}
