package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
)

// QuoteText puts stored text into quotes with control characters escaped, so that
// nothing in a database can drive a terminal.
func QuoteText(s string) string { return strconv.Quote(s) }

// quotation is a text in quotes, as quoted makes it, also one that was cut off.
var quotation = pattern.Lazy(`"(?:[^"\\]|\\.)*"`)

// WithoutValues is a message with … in the place of what it quotes.
func WithoutValues(message string) string { return quotation().ReplaceAllString(message, "…") }

// CountedNoun is "1 message" or "2 messages".
func CountedNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// ShortID is an id as people read it in lists, and as commands take it: its first eight
// characters, behind the last slash where it has any, as "user/id" (see eventlog). An id that
// begins with a time is cut behind that, or else all sessions of some time would have one name.
// None is cut behind a hyphen.
func ShortID(id string) string {
	own := id[strings.LastIndexByte(id, '/')+1:]
	runes, length := []rune(own), 8
	switch {
	case strings.HasPrefix(own, "ses_"): // opencode: milliseconds and a counter
		length = 16
	case len(own) > 37 && own[len(own)-37] == '-' && own[len(own)-28] == '-' && own[len(own)-13] == '-': // Mastra: the parent's id, and a UUID
		length = len(own) - 28
	case len(own) == 36 && own[14] == '7' && own[8] == '-': // UUID version 7: milliseconds
		length = 13
	case len(runes) > length && runes[length-1] == '-': // a word, which says little alone
		length = 16
	}
	if len(runes) > length+4 {
		return strings.TrimSuffix(id, own) + string(runes[:length])
	}
	return id
}

// JoinWords joins words: "a", "a and b", "a, b and c".
func JoinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// JoinFew lists the first few of many words, and how many more there are.
func JoinFew(words []string) string { return JoinMost(few, words) }

const few = 4

// JoinMost does for other numbers than a few.
func JoinMost(most int, words []string) string {
	if more := len(words) - most; more > 1 {
		words = append(slices.Clone(words[:most]), strconv.Itoa(more)+" more")
	}
	return JoinWords(words)
}

// CallName is a call for people: "toolu_9aa (shell)".
func CallName(c *session.Call) string {
	id := cmp.Or(c.ID, "(no id)")
	if c.Name == "" {
		return id
	}
	return id + " (" + c.Name + ")"
}

// VerbForm picks the form for one or for several.
func VerbForm(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// AgentName is the name of an agent for people, who may have none.
func AgentName(a string) string {
	if a == "" {
		return "an agent without a name"
	}
	return QuoteText(a)
}
