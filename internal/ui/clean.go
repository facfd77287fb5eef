package ui

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes stored text safe to print on one line: every control character
// (C1 included), every character that changes the direction of text, every
// line separator, every byte that is no UTF-8 and the two code points that no XML
// can hold become a visible escape, and so does a character of what a CI system that
// reads its logs would carry out.
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
	for i, r := range text {
		switch {
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
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isClean(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, isUnsafe)
}

func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufffe' || r == '\uffff'
}
