package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"

	"github.com/sessctl/sessctl/internal/pattern"
)

// Bytes is a size for people: "1.1 kB".
func Bytes(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// Number is a number with its thousands parted: "2,397".
func Number(n int) string { return humanize.Comma(int64(n)) }

// Count counts a number with its noun: "1 item", "2,397 items".
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

// AsSentence gives a hint its capital letter and its final dot. Words that are
// typed, as sessctl itself or a path, keep their case.
func AsSentence(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if word != "sessctl" && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLower(r) }) {
		text = strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
	}
	return EndSentence(text)
}

// JoinSentences joins the sentences that are not empty, in one text.
func JoinSentences(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), " ")
}

// EndSentence gives a sentence its final dot.
func EndSentence(text string) string {
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

// Excerpt is stored text on one line of at most width columns.
func Excerpt(text string, width int) string {
	text = strings.TrimSpace(text)
	whole := len(text)
	if most := 16 * width; whole > most { // no text of that many bytes is narrower
		for !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most]
	}
	line := strings.Join(strings.Fields(text), " ")
	if len(text) < whole {
		line += "…"
	}
	return Truncate(Clean(line), width)
}

// WithExcerpt is words with an excerpt of stored text behind them.
func WithExcerpt(words, text string, width int) string {
	words = Excerpt(words, width)
	if text = Excerpt(text, width); text == "" {
		return strings.TrimSuffix(words, ":")
	}
	return words + " " + text
}

// CleanLines are the lines of stored text, each safe to print. Tabs become
// spaces, so that columns can be counted.
func CleanLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\t", "    ")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return lines
}

// WrapWhole is a whole text in lines of at most width columns; words that are
// longer are broken.
func WrapWhole(text string, width int) []string {
	var lines []string
	for _, p := range CleanLines(text) {
		lines = append(lines, strings.Split(lipgloss.Wrap(p, max(width, 8), ""), "\n")...)
	}
	return lines
}

// Pad is a text cut or filled to a number of columns.
func Pad(text string, width int) string {
	text = Truncate(text, width)
	return text + strings.Repeat(" ", max(width-Width(text), 0))
}

// TruncateLeft shortens a path to its end, which tells it from others.
func TruncateLeft(text string, width int) string {
	if over := Width(text) - width; over > 0 {
		return ansi.TruncateLeft(text, over+1, "…")
	}
	return text
}

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
	logCommand  = pattern.Lazy(`(##[A-Za-z]*)\[`)
	lineCommand = pattern.Lazy(`(^|[\s\pZ]):(:[A-Za-z])`)
)

func withoutCommands(text string) string {
	if strings.Contains(text, "##") {
		text = logCommand().ReplaceAllString(text, `$1\x5b`)
	}
	if strings.Contains(text, "::") {
		text = lineCommand().ReplaceAllString(text, `$1\x3a$2`)
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
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) || utf8.ValidString(text) && !strings.ContainsRune(text, joiner) && !strings.ContainsFunc(text, isUnsafe)
}

// joiner is the zero-width character that makes one emoji of several.
const joiner = '\u200d'

// isEmoji reports whether a joiner beside a character joins emojis: a picture, its colour of
// skin, or the selector that makes it an emoji.
func isEmoji(r rune) bool {
	return unicode.Is(unicode.So, r) && r != utf8.RuneError || r == '\ufe0f' || 0x1f3fb <= r && r <= 0x1f3ff
}

// IsUnsafe reports whether a character drives a terminal, changes the direction of text,
// ends a line, or is there without being seen: zero-width ones but for the joiner of
// emojis, tags, fillers, and the selectors of variants but for the two of emojis.
func IsUnsafe(r rune) bool { return isUnsafe(r) }

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

// narrow are the characters beyond ASCII that most rows have and that take one column.
const narrow = "→×–…≠·"

// Width counts the columns of a text. What takes one a character needs no tables.
func Width(text string) int {
	n := 0
	for _, r := range text {
		if (r < ' ' || r > '~') && !strings.ContainsRune(narrow, r) {
			return lipgloss.Width(text)
		}
		n++
	}
	return n
}

// Wrap breaks text into lines of at most width columns, at spaces only: an id,
// a path or a `command` that is longer stays whole, so that it can be copied. A number
// stays with what it counts or names, and a flag with its value, where they fit.
func Wrap(text string, width int) []string {
	if FitsLine(text, width) {
		return []string{text}
	}
	var lines []string
	line, used := "", 0
	list := splitWords(text)
	if one := strings.Join(list, " "); Width(one) <= width {
		return []string{one}
	}
	for _, word := range joinKept(list, width) {
		w := Width(word)
		switch {
		case line == "":
			line, used = word, w
		case used+1+w <= width:
			line, used = line+" "+word, used+1+w
		default:
			lines = append(lines, line)
			line, used = word, w
		}
	}
	return append(lines, line)
}

// FitsLine reports whether Wrap leaves a text as it is: on one line, without more spaces than
// one between two words.
func FitsLine(text string, width int) bool {
	before := ' '
	for _, r := range text {
		if unicode.IsSpace(r) && (r != ' ' || before == ' ') {
			return false
		}
		before = r
	}
	return before != ' ' && Width(text) <= width
}

// Words that do not part from the one after them: "2,397 sessions", "--allow KINDS", and
// "message 2" from the other side.
var (
	number = pattern.Lazy(`^[(~$]?\d([\d.,:–-]*\d)?$`)
	flag   = pattern.Lazy(`^[(]?--[a-z-]*[a-z]$`)
	named  = pattern.Lazy(`^[(]?([Mm]essage|[Ii]tem|[Ll]ine|[Rr]ow|[Bb]yte|[Pp]age|[Ff]rame|[Ee]vent|[Ss]tep|[Mm]igration)s?$|^[(]?(schema|pid|code|version|year)$`)
)

// joinKept joins the words that stay on one line.
func joinKept(list []string, width int) []string {
	var joined []string
	before := ""
	for _, word := range list {
		bare := ansi.Strip(word)
		keeps := flag().MatchString(before) || number().MatchString(before) && strings.IndexFunc(bare, unicode.IsLetter) == 0 ||
			named().MatchString(before) && strings.IndexFunc(bare, unicode.IsDigit) == 0
		before = bare
		if last := len(joined) - 1; keeps && ansi.StringWidth(joined[last]+word) < width {
			joined[last] += " " + word
			continue
		}
		joined = append(joined, word)
	}
	return joined
}

// splitWords parts text at its spaces, but for those of a command between backquotes.
func splitWords(text string) (list []string) {
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return list
		}
		from := 0
		if command := strings.TrimLeft(text, "("); strings.HasPrefix(command, "`") {
			from = len(text) - len(command) + 1
			from += strings.IndexByte(text[from:], '`') + 1 // 0 where it is never closed
		}
		end := strings.IndexFunc(text[from:], unicode.IsSpace)
		if end < 0 {
			return append(list, text)
		}
		list, text = append(list, text[:from+end]), text[from+end:]
	}
}

// Hang wraps text behind a first prefix, with further lines behind another one.
// Both should be of equal width. The result ends with a line end.
func Hang(first, rest, text string, width int) string {
	lines := Wrap(text, width-ansi.StringWidth(first))
	return first + strings.Join(lines, "\n"+rest) + "\n"
}

// Truncate shortens text to width columns and ends it with "…" if it was longer.
func Truncate(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	return ansi.Truncate(text, width, "…")
}

// Shorten cuts text to width columns at its words, so that no id is cut unless less than a
// third of the columns would be used, and says so with "…". A word to keep is always there:
// what is before it gives way.
func Shorten(text, keep string, width int) string {
	if ansi.StringWidth(text) <= width {
		return text
	}
	short := firstWords(text, width-1) + "…"
	before, after, found := strings.Cut(text, keep)
	switch {
	case (!found || keep == "") && 3*ansi.StringWidth(short) < width:
		return Truncate(text, width)
	case !found || strings.Contains(short, keep):
		return short
	}
	if after != "" {
		keep += "…"
	}
	return firstWords(before, width-ansi.StringWidth(" … "+keep)) + " … " + keep
}

// firstWords are the words of a text that so many columns have room for.
func firstWords(text string, width int) string {
	words := ""
	for word := range strings.FieldsSeq(text) {
		if ansi.StringWidth(words+word) > width {
			break
		}
		words += " " + word
	}
	return strings.Trim(words, " ,;:(")
}
