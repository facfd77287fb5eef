package errtext_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/rules"
)

// change is one thing that happens to a text on its way.
type change struct {
	name string
	do   func(t *rapid.T, text string) string
}

// stages are what happens to a text, in the order in which it does: how it is written,
// what it is put into, how that is escaped, wrapped, and set before people.
var stages = [][]change{
	{
		{"as it is", as},
		{"without backticks", func(_ *rapid.T, s string) string { return strings.ReplaceAll(s, "`", "") }},
		{"without the words in backticks", func(_ *rapid.T, s string) string { return withoutBacktickedWords(s) }},
		{"in double quotes of PowerShell", func(_ *rapid.T, s string) string {
			return strings.NewReplacer("`a", "\a", "`b", "\b", "`e", "\x1b", "`f", "\f", "`n", "\n", "`r", "\r", "`t", "\t", "`v", "\v", "`", "").Replace(s)
		}},
		{"typographic", func(_ *rapid.T, s string) string {
			return strings.NewReplacer("'", "’", `"`, "“", ": ", ": – ").Replace(s)
		}},
		{"cut behind", func(_ *rapid.T, s string) string { return strings.TrimSuffix(s, ".") + "…" }},
	},
	{
		{"alone", as},
		{"a client's error", func(_ *rapid.T, s string) string { return "all models failed: error 400 Bad Request: " + s }},
		{"a body", func(_ *rapid.T, s string) string {
			return `{"type":"error","error":{"type":"invalid_request_error","message":` + quoted(s) + `},"request_id":"req_011CSURz8kJA4QAX"}`
		}},
		{"a dictionary", func(_ *rapid.T, s string) string {
			return `Error code: 400 - {'error': {'message': ` + quoted(s) + `, 'type': 'invalid_request_error', 'param': None}}`
		}},
		{"a trace", func(_ *rapid.T, s string) string {
			return "BadRequestError: " + s + "\n\n    at call_next (agent.js:12:3)\n"
		}},
	},
	{
		{"not escaped", as},
		{"escaped", func(_ *rapid.T, s string) string { return quoted(s) }},
		{"escaped twice", func(_ *rapid.T, s string) string { return `{"data":` + quoted(quoted(s)) + `}` }},
		{"entities", func(_ *rapid.T, s string) string { return strings.ReplaceAll(html.EscapeString(s), "`", "&#x60;") }},
		{"escaped, then entities", func(_ *rapid.T, s string) string { return html.EscapeString(quoted(s)) }},
		{"in a URL", func(_ *rapid.T, s string) string { return url.QueryEscape(s) }},
		{"in a path", func(_ *rapid.T, s string) string { return url.PathEscape(s) }},
	},
	{
		{"not wrapped", as},
		{"wrapped within words", func(t *rapid.T, s string) string { return byWidth(s, rapid.IntRange(40, 132).Draw(t, "width")) }},
		{"wrapped between words", func(t *rapid.T, s string) string { return byWords(s, rapid.IntRange(60, 132).Draw(t, "width")) }},
	},
	{
		{"bare", as},
		{"a citation", eachLine(func(_ int, l string) string { return "> " + l })},
		{"windows", func(_ *rapid.T, s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
		{"a box", eachLine(func(_ int, l string) string {
			return "│ " + l + strings.Repeat(" ", max(0, 140-utf8.RuneCountInString(l))) + " │"
		})},
		{"colours", eachLine(func(_ int, l string) string { return "\x1b[38;5;203m" + l + "\x1b[0m" })},
		{"a log", eachLine(func(n int, l string) string { return fmt.Sprintf("2026-02-09T11:40:21.%03d+01:00 ERROR ", n) + l })},
		{"containers", eachLine(func(_ int, l string) string { return "agent-1  | " + l })},
		{"a journal", eachLine(func(n int, l string) string { return fmt.Sprintf("Nov 23 01:20:%02d host agent[4711]: ", n%60) + l })},
	},
}

func as(_ *rapid.T, s string) string { return s }

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func eachLine(do func(n int, line string) string) func(*rapid.T, string) string {
	return func(_ *rapid.T, s string) string {
		lines := strings.Split(s, "\n")
		for n := range lines {
			lines[n] = do(n, lines[n])
		}
		return strings.Join(lines, "\n")
	}
}

func byWidth(s string, width int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == width && r != '\n' {
			b.WriteByte('\n')
			n = 0
		}
		b.WriteRune(r)
		if n++; r == '\n' {
			n = 0
		}
	}
	return b.String()
}

func byWords(s string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Split(s, " ") {
		if n += utf8.RuneCountInString(word) + 1; n > width && i > 0 {
			b.WriteByte('\n')
			n = utf8.RuneCountInString(word) + 1
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// callIDs are ids as providers make them.
func callIDs() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`toolu_01[A-HJ-NP-Za-km-z1-9]{22}`),
		rapid.StringMatching(`call_[A-Za-z0-9]{24}`),
		rapid.StringMatching(`tooluse_[A-Za-z0-9][A-Za-z0-9_-]{20}[A-Za-z0-9]`),
		rapid.StringMatching(`chatcmpl-tool-[0-9a-f]{32}`),
		rapid.StringMatching(`functions\.[a-z]{3,8}:[0-9]`),
		rapid.StringMatching(`adk-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
		rapid.StringMatching(`[A-Z][a-z][A-Za-z0-9]{6}[0-9]`),
		rapid.SampledFrom([]string{"toolu_01Y2", "call_1", "r1", "bash-uOQIdN0P", "call_function_8a1u5cwi68s5_1"}),
	)
}

// TestMutilationKeepsWhatIsRecognised: whatever happens to a text on its way, what it is
// and the ids that it names are recognised as in the text itself.
func TestMutilationKeepsWhatIsRecognised(t *testing.T) {
	campaign.Checks(t, 3000, 200_000)
	rapid.Check(t, func(t *rapid.T) {
		profile := rapid.SampledFrom(rules.Profiles).Draw(t, "profile")
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(profile.Errors))).Draw(t, "rule")
		ids := rapid.SliceOfNDistinct(callIDs(), 1, 3, rapid.ID).Draw(t, "ids")
		text := profile.ErrorText(key, rules.Said{Message: rapid.IntRange(0, 3000).Draw(t, "message"), Block: 3, ID: strings.Join(ids, ", "), Name: "tool_use", N: 65})
		want := errtext.ParseAnswer(text)
		if named := strings.Contains(profile.Errors[key], "{id}"); named != slices.Equal(want.IDs, ids) {
			t.Fatalf("the ids %q are read from %s", want.IDs, text)
		}
		for _, stage := range stages {
			c := stage[rapid.IntRange(0, len(stage)-1).Draw(t, "change")]
			text = c.do(t, text)
			t.Log(c.name)
		}
		got := errtext.ParseAnswer(text)
		if got.Kind != want.Kind || !slices.Equal(got.Rules, want.Rules) || !slices.Equal(got.Profiles, want.Profiles) ||
			!slices.Equal(got.IDs, want.IDs) || got.Message != want.Message || got.Block != want.Block {
			t.Fatalf("want %+v\ngot  %+v\nof\n%s", want, got, text)
		}
		mustBeSafe(t, got)
	})
}

// mustBeSafe fails where what is shown could drive a terminal, or is not one short line.
func mustBeSafe(t interface{ Fatalf(string, ...any) }, e errtext.Error) {
	if bad := strings.IndexFunc(e.Text, func(r rune) bool { return !unicode.IsPrint(r) }); bad >= 0 || len(e.Text) > 410 {
		t.Fatalf("it is shown as %q", e.Text)
	}
	for _, id := range e.IDs {
		if id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-") != "" {
			t.Fatalf("%q is an id", id)
		}
	}
}
