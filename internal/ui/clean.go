package ui

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes stored text safe to print on one line: every control character
// (C1 included), every character that changes the direction of text or that nobody
// sees, every line separator, every byte that is no UTF-8 and the two code points that
// no XML can hold become a visible escape, and so does a character of what a CI system
// that reads its logs would carry out.
func Clean(text string) string {
	return withoutCommands(withoutUnsafe(text))
}

// The commands in logs: ##vso[ and ##[ of Azure Pipelines, ##teamcity[ and GitHub's
// older ##[ anywhere in a line; GitHub's :: where a line begins, which may be at any
// word (actions/runner, ActionCommand.cs: TryParse and TryParseV2).
var (
	logCommand  = regexp.MustCompile(`(##[A-Za-z]*)\[`)
	lineCommand = regexp.MustCompile(`(^|[\s\pZ]):(:[A-Za-z])`)
)

func withoutCommands(text string) string {
	if strings.Contains(text, "##") {
		text = logCommand.ReplaceAllString(text, `$1\x5b`)
	}
	if strings.Contains(text, "::") {
		text = lineCommand.ReplaceAllString(text, `$1\x3a$2`)
	}
	return text
}

func withoutUnsafe(text string) string {
	if isClean(text) {
		return text
	}
	var b strings.Builder
	last := rune(0)
	for i, r := range text {
		before := last
		last = r
		switch {
		case r == joiner:
			next, _ := utf8.DecodeRuneInString(text[i+len(string(joiner)):])
			if isEmoji(before) || isEmoji(next) {
				b.WriteRune(r)
			} else {
				b.WriteString(`\u200d`)
			}
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !isUnsafe(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isClean(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, joiner) && !strings.ContainsFunc(text, isUnsafe)
}

// joiner is the zero-width character that makes one emoji of several.
const joiner = '\u200d'

// isEmoji reports whether a joiner beside a character joins emojis: a picture, its colour of
// skin, or the selector that makes it an emoji.
func isEmoji(r rune) bool {
	return unicode.Is(unicode.So, r) && r != utf8.RuneError || r == '\ufe0f' || 0x1f3fb <= r && r <= 0x1f3ff
}

// Unsafe reports whether a character drives a terminal, changes the direction of text,
// ends a line, or is there without being seen: zero-width ones but for the joiner of
// emojis, tags, fillers, and the selectors of variants but for the two of emojis.
func Unsafe(r rune) bool { return isUnsafe(r) }

func isUnsafe(r rune) bool {
	return r != joiner && (r < ' ' || r >= 0x7f && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unseen)))
}

var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, {Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2065, Hi: 0x2065, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0d, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff0, Hi: 0xfff8, Stride: 1}, {Lo: 0xfffe, Hi: 0xffff, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}
