package errtext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/errtext"
)

// FuzzRead: whatever is pasted, the answer is bounded and safe to show, and what was
// recognised is recognised behind an error of another kind, too.
func FuzzRead(f *testing.F) {
	for _, file := range readPasted(f).Files {
		f.Add(string(file.Data))
	}
	f.Add("messages.\x00\x012: \xff\xfe `tool_use` ids were found without\x9b31m blocks immediately after: \u202etoolu_01Y2")
	f.Fuzz(func(t *testing.T, text string) {
		e := errtext.ParseAnswer(text)
		mustBeSafe(t, e)
		if e.Kind == errtext.Refused && len(text) < 1000 && utf8.ValidString(text) {
			if again := errtext.ParseAnswer("529 Overloaded\n\n" + text); again.Kind != errtext.Refused {
				t.Fatalf("%q is %s behind another error", text, again.Kind)
			}
		}
		errtext.IsCallID(text)
	})
}

// TestHostileTextsAreBounded: a text of megabytes is read at both ends, and nothing that
// repeats costs more than its length.
func TestHostileTextsAreBounded(t *testing.T) {
	const sentence = "No tool output found for function call call_abc."
	for name, text := range map[string]string{
		"megabytes before":      strings.Repeat("x ", 4<<20) + "\n" + sentence,
		"megabytes behind":      sentence + "\n" + strings.Repeat("y\n", 4<<20),
		"backslashes":           sentence + strings.Repeat(`\`, 1<<20),
		"NULs and line feeds":   sentence + strings.Repeat("\x00\n\x01", 1<<18),
		"escapes of terminals":  sentence + strings.Repeat("\x1b[", 1<<18),
		"invalid UTF-8":         strings.Repeat("\xff\xc3", 1<<16) + sentence,
		"one long word":         sentence + " " + strings.Repeat("toolu_", 1<<18),
		"beginnings of entries": strings.Repeat("item unexpected messages content ", 1<<17) + sentence,
		"percent signs":         sentence + strings.Repeat("%25", 1<<18),
		"ampersands":            sentence + strings.Repeat("&amp;", 1<<18),
		"brackets":              sentence + strings.Repeat("[1;", 1<<18),
	} {
		e := errtext.ParseAnswer(text)
		if e.Kind != errtext.Refused || len(e.IDs) == 0 || e.IDs[0] != "call_abc" || !strings.HasPrefix(e.Text, sentence[:len(sentence)-1]) {
			t.Errorf("%s: %+v", name, e)
		}
		mustBeSafe(t, e)
	}
	ids := strings.Repeat("call_1, ", 1<<16)
	if e := errtext.ParseAnswer("No tool output found for function call " + ids); len(e.IDs) != 1 {
		t.Errorf("%d ids of one repeated id", len(e.IDs))
	}
}

// BenchmarkRead reads as much as is read of any text, and recognises nothing.
func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("time=2026-02-09T11:40:21 level=INFO msg=\"item 17 of messages.3.content\"\n", 1<<12)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		errtext.ParseAnswer(text)
	}
}

func TestIsCallID(t *testing.T) {
	for word, want := range map[string]bool{
		"toolu_01Y2": true, "toolu_vrtx_01KKMxh6W7Kx6g5tZbQBfQ9b": true, "srvtoolu_01A": true, "tooluse_9ySdT-H2QuWYlqrScSBHuA": true,
		"call_abc": true, "call_1": true, "call_01_sfm5xVspRVSx1TAWyJtV8612": true, "fc_68a1": true, "chatcmpl-tool-0a1b2c": true,
		"functions.read_file:0": true, "D681PevKs": true, "adk-550e8400-e29b-41d4-a716-446655440000": true,
		"": false, "call_": false, "call_id": false, "call_ids": false, "toolu_": false, "functions.read": false, "session.db": false,
		"something": false, "Something": false, "SESSION01": false, "1f0c": false, "-1": false, "toolu_01 Y2": false, "./toolu_01Y2": false,
		"550e8400-e29b-41d4-a716-446655440000": false, "messages.2: toolu_01Y2": false,
	} {
		if got := errtext.IsCallID(word); got != want {
			t.Errorf("%q: %t", word, got)
		}
	}
}
