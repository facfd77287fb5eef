package ui

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// env makes a getenv of pairs.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestColorIsDecidedByFlagThenEnvironmentThenTerminal(t *testing.T) {
	tests := []struct {
		name     string
		mode     ColorMode
		terminal bool
		env      []string
		want     bool
	}{
		{"terminal", ColorAuto, true, nil, true},
		{"pipe", ColorAuto, false, nil, false},
		{"NO_COLOR of any value", ColorAuto, true, []string{"NO_COLOR", "yes"}, false},
		{"NO_COLOR=0 is a value too", ColorAuto, true, []string{"NO_COLOR", "0"}, false},
		{"NO_COLOR wins over CLICOLOR_FORCE", ColorAuto, true, []string{"NO_COLOR", "1", "CLICOLOR_FORCE", "1"}, false},
		{"CLICOLOR_FORCE in a pipe", ColorAuto, false, []string{"CLICOLOR_FORCE", "1"}, true},
		{"CLICOLOR_FORCE=0 forces nothing", ColorAuto, false, []string{"CLICOLOR_FORCE", "0"}, false},
		{"dumb terminal", ColorAuto, true, []string{"TERM", "dumb"}, false},
		{"always wins over all", ColorAlways, false, []string{"NO_COLOR", "1", "TERM", "dumb"}, true},
		{"never wins over all", ColorNever, true, []string{"CLICOLOR_FORCE", "1"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wantsColor(tt.mode, tt.terminal, env(tt.env...)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestStylesReachTheStreamOnlyWithColor(t *testing.T) {
	for mode, want := range map[ColorMode]string{
		ColorNever:  "an error",
		ColorAlways: "an \x1b[1;31merror\x1b[m",
	} {
		var out bytes.Buffer
		s := NewScreen(&out, mode, env())
		if _, err := s.Write([]byte("an " + Red.Render("error"))); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("--color %s: got %q, want %q", mode, out.String(), want)
		}
	}
}

func TestWithoutColorExactlyWhatAnsiStripLeavesIsWritten(t *testing.T) {
	for c := range rune(0x200) {
		for _, text := range []string{"a" + string(c) + "[31mb", "→" + string([]byte{byte(c)}) + "[31mb", "×" + string(c)} {
			var out bytes.Buffer
			if _, err := NewScreen(&out, ColorNever, env()).Write([]byte(text)); err != nil || out.String() != ansi.Strip(text) {
				t.Errorf("%q: got %q, %v", text, out.String(), err)
			}
		}
	}
}

func TestWidth(t *testing.T) {
	tests := []struct {
		columns     string
		width, text int
	}{
		{"", 80, 80}, {"120", 120, 100}, {"80", 80, 80}, {"10", 40, 40}, {"0", 80, 80}, {"wide", 80, 80}, {"-5", 80, 80},
	}
	for _, tt := range tests {
		s := NewScreen(&bytes.Buffer{}, ColorAuto, env("COLUMNS", tt.columns))
		if s.Width != tt.width || s.TextWidth() != tt.text {
			t.Errorf("COLUMNS=%s: got %d and %d for text, want %d and %d", tt.columns, s.Width, s.TextWidth(), tt.width, tt.text)
		}
	}
}

func TestCleanEscapesWhatDrivesATerminal(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "Größe → 5 µs 🙂", "Größe → 5 µs 🙂"},
		{"family of joined emoji", "👨‍👩‍👧", "👨‍👩‍👧"},
		{"escape sequence", "\x1b[31mred", `\x1b[31mred`},
		{"line ends and tabs", "a\nb\r\tc", `a\nb\r\tc`},
		{"nul and bell", "\x00\a", `\x00\x07`},
		{"DEL", "\x7f", `\x7f`},
		{"C1 as a character", "\u009b31m", `\u009b31m`},
		{"direction override", "abc\u202egnp.exe", `abc\u202egnp.exe`},
		{"direction isolate and mark", "\u2066\u200f\u061c", `\u2066\u200f\u061c`},
		{"zero-width characters", "a\u200bb\u200c\u2060\ufeff\u00adc", `a\u200bb\u200c\u2060\ufeff\u00adc`},
		{"tags", "a\U000E0041\U000E0001\U000E0100", `a\U000e0041\U000e0001\U000e0100`},
		{"fillers", "\u3164\u115f\uffa0\u034f\ufe01", `\u3164\u115f\uffa0\u034f\ufe01`},
		{"emojis", "👩\u200d👧 ❤️\u200d🔥 👍🏽 🇩🇪", "👩\u200d👧 ❤️\u200d🔥 👍🏽 🇩🇪"},
		{"a joiner between letters", "a\u200db\u200d", `a\u200db\u200d`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"invalid UTF-8", "a\xff\xc3b", `a\xff\xc3b`},
		{"a real replacement character", "\ufffd", "\ufffd"},
		{"a surrogate half", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"a command of Azure", "a ##vso[task.setvariable variable=PATH]x", `a ##vso\x5btask.setvariable variable=PATH]x`},
		{"a command of TeamCity", "##teamcity[buildStop]", `##teamcity\x5bbuildStop]`},
		{"old commands of GitHub", "##[error]x###[debug]", `##\x5berror]x###\x5bdebug]`},
		{"a command behind a control character", "\a##VSO[x", `\x07##VSO\x5bx`},
		{"commands of GitHub", "::error::a ::stop-commands::b", `\x3a:error::a \x3a:stop-commands::b`},
		{"no command", "## [x] #[x] a::b ::1 a##", "## [x] #[x] a::b ::1 a##"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzCleanLeavesNothingUnsafe(f *testing.F) {
	f.Add("a\x1b]0;title\a\xff\u202e")
	f.Add("##vso[a]##[b] ::c::d ::::e")
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, isUnsafe) || Clean(got) != got {
			t.Errorf("Clean(%q) = %q", text, got)
		}
	})
}

func TestHangWrapsAtSpacesOnly(t *testing.T) {
	got := Hang("  → ", "    ", "a call toolu_01Y2AbCdEfGhIjKlMnOp has no result", 24)
	want := "  → a call\n    toolu_01Y2AbCdEfGhIjKlMnOp\n    has no result\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Hang("", "", "wide 漢字漢字 text", 9); got != "wide\n漢字漢字\ntext\n" {
		t.Errorf("wide characters count two columns: got %q", got)
	}
	styled := Bold.Render("bold") + " text"
	if got := Hang("", "", styled, 9); got != styled+"\n" {
		t.Errorf("styles take no columns: got %q", got)
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"exactly ten", 11, "exactly ten"}, {"a longer title", 8, "a longe…"}, {"漢字漢字", 5, "漢字…"},
	}
	for _, tt := range tests {
		if got := Truncate(tt.in, tt.width); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func TestWordsForPeople(t *testing.T) {
	tests := []struct{ got, want string }{
		{Bytes(0), "0 B"}, {Bytes(1100), "1.1 kB"}, {Bytes(4_100_000), "4.1 MB"}, {Bytes(-1), "0 B"},
		{Count(0, "item"), "0 items"}, {Count(1, "item"), "1 item"}, {Count(2397, "item"), "2,397 items"},
		{Tilde(filepath.FromSlash("/home/ann/.cagent/session.db"), filepath.FromSlash("/home/ann")), filepath.FromSlash("~/.cagent/session.db")},
		{Tilde("/home/anna/x", "/home/ann"), "/home/anna/x"}, {Tilde("/x", ""), "/x"}, {Tilde("/x", "/"), "/x"},
		{AsSentence("check the path"), "Check the path."}, {AsSentence("sessctl reads files"), "sessctl reads files."},
		{AsSentence("`sessctl ls` lists them"), "`sessctl ls` lists them."}, {AsSentence("./a.db is it?"), "./a.db is it?"}, {AsSentence(""), ""},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestProgressAppearsLateAndVanishes(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 2, 3, 10, 0, 0, 0, time.UTC)
	p := &Progress{w: &out, width: 80, what: "reading s.db", total: 1000, now: func() time.Time { return now }, next: now.Add(patience)}
	set := func(after time.Duration, n int64) {
		now = now.Add(after)
		p.Set(n)
	}
	set(100*time.Millisecond, 100) // too early
	set(250*time.Millisecond, 400)
	set(10*time.Millisecond, 450) // too soon after the last
	set(200*time.Millisecond, 5000)
	p.Clear()
	set(time.Second, 900) // over
	want := clearLine + "reading s.db: 400 B of 1.0 kB (40 %)" + clearLine + "reading s.db: 1.0 kB of 1.0 kB (100 %)" + clearLine
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestProgressOffATerminalPrintsNothing(t *testing.T) {
	var out bytes.Buffer
	p := NewScreen(&out, ColorAlways, env()).StartProgress("reading", 10)
	p.next = time.Time{}
	p.Set(5)
	p.Clear()
	if out.Len() > 0 {
		t.Errorf("got %q", out.String())
	}
}

func TestProgressOfUnknownSize(t *testing.T) {
	p := &Progress{}
	if got := p.amountDone(1100); got != "1.1 kB" {
		t.Errorf("got %q", got)
	}
}

func TestWrapKeepsANumberWithItsUnitAndAFlagWithItsValue(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"there are 2,397 sessions", 16, []string{"there are", "2,397 sessions"}},
		{"from message 12 on (once)", 13, []string{"from", "message 12 on", "(once)"}},
		{"it holds (70 kB) of texts", 12, []string{"it holds", "(70 kB) of", "texts"}},
		{"pass --allow split,guesses too", 24, []string{"pass", "--allow split,guesses", "too"}},
		{"pass (--allow split) or --all, then", 15, []string{"pass", "(--allow split)", "or --all, then"}},
		{"of \x1b[1m48 changes\x1b[m in", 12, []string{"of", "\x1b[1m48 changes\x1b[m", "in"}},
		{"in 2, or 3; more", 7, []string{"in 2,", "or 3;", "more"}},
		{"the 1 thatdoesnotfit", 13, []string{"the 1", "thatdoesnotfit"}},
	} {
		if got := Wrap(tt.text, tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestATextThatFitsHasNothingToWrap(t *testing.T) {
	for text, want := range map[string]bool{"": false, " a": false, "a ": false, "a  b": false, "a\tb": false, "a\u00a0b": false, "a b": true, "(`a b": true} {
		if FitsLine(text, 80) != want || want && strings.Join(splitWords(text), " ") != text {
			t.Errorf("%q fits: %v", text, !want)
		}
	}
}

func TestWrapKeepsACommandWhole(t *testing.T) {
	for text, want := range map[string][]string{
		"Use `sessctl check 'a  b.db' --deep` to see it": {"Use", "`sessctl check 'a  b.db' --deep`", "to see it"},
		"(`sessctl check 'a  b.db'`) shows it":           {"(`sessctl check 'a  b.db'`)", "shows it"},
		"a ` that is  never closed":                      {"a ` that", "is never", "closed"},
		"`one two three` `four five six`, and  so on":    {"`one two three`", "`four five six`,", "and so on"},
		"`": {"`"}, "": {""}, "``` four five": {"``` four", "five"},
	} {
		if got := Wrap(text, 10); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestShortenCutsAtWordsAndKeepsOne(t *testing.T) {
	const said = "messages.2: ids were found without results after: toolu_01Y2. Each must have one."
	tests := []struct {
		text, keep string
		width      int
		want       string
	}{
		{said, "toolu_01Y2", 100, said},
		{said, "toolu_01Y2", 70, "messages.2: ids were found without results after: toolu_01Y2. Each…"},
		{said, "toolu_01Y2", 40, "messages.2: ids were found … toolu_01Y2…"},
		{said, "toolu_01Y2", 8, " … toolu_01Y2…"},
		{said, "", 60, "messages.2: ids were found without results after…"},
		{said, "elsewhere", 20, "messages.2: ids…"},
		{"toolu_01Y2", "toolu_01Y2", 4, " … toolu_01Y2"},
		{"toolu_01Y2 has none", "", 6, "toolu…"},
		{"call adk-41dce6e5-f42d-48ea-8d8e-adad06a82b9e has none", "", 30, "call adk-41dce6e5-f42d-48ea-8…"},
	}
	for _, tt := range tests {
		if got := Shorten(tt.text, tt.keep, tt.width); got != tt.want {
			t.Errorf("%d columns: got %q, want %q", tt.width, got, tt.want)
		}
	}
}
