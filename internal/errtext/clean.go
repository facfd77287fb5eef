package errtext

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is a pasted text with its escapes undone and its lines joined. A mark is left where
// a line ended: at a blank, or because it was full, perhaps within a word.
type text string

const blank, full = "\x00", "\x01"

var marks = strings.NewReplacer(blank, "", full, "")

const (
	mostText = 256 << 10 // how much of a text is read, half of it at each end
	rounds   = 4         // how often a text was escaped in different ways; backslashes are undone at once
)

// What terminals and loggers put at the beginning and the end of every line.
var (
	colour = regexp.MustCompile(`(?:\x1b|\^\[)\[[ -?\x00\x01]*[@-~]|\[(?:[\d\x00\x01]{1,4};){0,4}[\d\x00\x01]{1,4}m|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|\x1b`)
	stamp  = `\[?(?:(?:\d{4}[-/]\d\d[-/]\d\d|[JFMASOND][a-z]{2} [ \d]\d|[IWEF]\d{4})[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?`
	level  = `(?:\s+(?:[-|:]\s+)?\[?(?i:trace|debug|info|notice|warn|warning|error|err|fatal|critical|(?:stderr|stdout) [FP])\b\]?:?)?`
	source = `(?:\s+(?:[-|:]\s+)?(?:\[[A-Za-z][\w.:/ -]{1,40}\]|[\w./-]{1,40}\.(?:py|go|js|ts|rs|rb|java|kt|cs):\d+|[\w.-]+ [\w.-]+\[\d+\]:):?)*(?:\s+[-|:](?:\s|$))?`
	before = regexp.MustCompile(`^(?:[\s>│┃║▏▎▌⎿└├╰╭|]+|[\w.-]{1,40} *\| |` + stamp + level + source +
		`|(?:(?:time|ts|level|lvl|logger|caller)=(?:"[^"]*"|\S+)\s+)+(?:msg=)?)+`)
	behind = regexp.MustCompile(`[\s│┃║▕▏╮╯|]+$`)
)

// What is written for a character, with lines that end within it.
var (
	percents = regexp.MustCompile(`(?:[\x00\x01]?%[\x00\x01]?[0-9A-Fa-f][\x00\x01]?[0-9A-Fa-f])+`)
	entities = regexp.MustCompile(`&[#\w\x00\x01]{2,12};`)
	tags     = regexp.MustCompile(`</?[a-z\x00\x01]{1,10} ?/?>`)
	escapes  = regexp.MustCompile(`\\[\\\x00\x01]*(?:u(?:[\x00\x01]?[0-9a-fA-F]){4}|x(?:[\x00\x01]?[0-9a-fA-F]){2}|[0-3](?:[\x00\x01]?[0-7]){2}|[nrt_"'/` + "`])")
)

func clean(pasted string) text {
	if len(pasted) > mostText {
		pasted = pasted[:mostText/2] + "\n\n" + pasted[len(pasted)-mostText/2:]
	}
	s := joined(colour.ReplaceAllString(marks.Replace(strings.ToValidUTF8(pasted, " ")), ""))
	spaced := strings.Contains(strings.TrimSpace(s), " ")
	for range rounds {
		was := s
		s = replaced(s, percents, func(m string) string {
			raw, _ := strconv.Unquote(`"` + strings.ReplaceAll(m, "%", `\x`) + `"`)
			return strings.ToValidUTF8(raw, " ")
		})
		s = replaced(s, entities, html.UnescapeString)
		s = replaced(s, tags, func(string) string { return " " })
		s = replaced(s, escapes, unescaped)
		if s == was {
			break
		}
	}
	if !spaced {
		s = strings.ReplaceAll(s, "+", " ") // as in URLs
	}
	return text(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // of no width
			return -1
		}
		return r
	}, colour.ReplaceAllString(s, "")))
}

// replaced replaces what matches, and keeps a mark within it.
func replaced(s string, re *regexp.Regexp, with func(string) string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string {
		mark := ""
		if i := strings.IndexAny(m, blank+full); i >= 0 {
			mark = m[i : i+1]
		}
		return marks.Replace(with(marks.Replace(m))) + mark
	})
}

// unescaped is the character that an escape with any number of backslashes stands for.
func unescaped(m string) string {
	m = strings.TrimLeft(m, `\`)
	base := 16
	switch {
	case m == "n":
		return "\n"
	case m == "r", m == "t":
		return " "
	case len(m) == 1:
		return m
	case m[0] < '8':
		base = 8
	}
	r, _ := strconv.ParseUint(strings.TrimLeft(m, "ux"), base, 32)
	return string(rune(r))
}

// joined takes the lines for one, without what is around each of them. An empty line
// stays the end of a line.
func joined(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	widths := map[int]int{}
	widest := 0
	for _, line := range lines {
		n := utf8.RuneCountInString(line)
		widest = max(widest, n)
		widths[n]++
	}
	var b strings.Builder
	for i, line := range lines {
		own := before.ReplaceAllString(line, "")
		line, trimmed := line, behind.ReplaceAllString(own, "")
		b.WriteString(trimmed)
		switch {
		case i == len(lines)-1:
		case trimmed == "":
			b.WriteByte('\n')
		case own == trimmed && widths[widest] > 1 && utf8.RuneCountInString(line) == widest:
			b.WriteString(full)
		default:
			b.WriteString(blank)
		}
	}
	return b.String()
}

// letters are the letters and digits of the text in lower case and nothing else, so that
// neither quotation marks nor blanks nor the ends of lines matter, and the place of each.
func (t text) letters() (string, []int) {
	letters, places := make([]byte, 0, len(t)), make([]int, 0, len(t))
	for i, c := range []byte(t) {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			letters, places = append(letters, c), append(places, i)
		}
	}
	return string(letters), places
}
