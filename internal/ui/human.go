package ui

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize"
)

// Bytes is a size for people: "1.1 kB".
func Bytes(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// Number is a number with its thousands parted: "2,397".
func Number(n int) string { return humanize.Comma(int64(n)) }

// Count is a number with its noun: "1 item", "2,397 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Tilde shortens a path below the home folder: "~/.cagent/session.db".
func Tilde(path, home string) string {
	if home == "" || home == string(filepath.Separator) {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(home, string(filepath.Separator))+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// Sentence gives a hint its capital letter and its final dot. Words that are
// typed, as sessctl itself or a path, keep their case.
func Sentence(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if word != "sessctl" && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLower(r) }) {
		text = strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
	}
	return Ended(text)
}

// Ended gives a sentence its final dot.
func Ended(text string) string {
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// CommonStart counts the bytes that two words begin with alike: how near a
// mistyped one is.
func CommonStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
