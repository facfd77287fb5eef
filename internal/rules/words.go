package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// quoted puts stored text into quotes with control characters escaped, so that
// nothing in a database can drive a terminal.
func quoted(s string) string { return strconv.Quote(s) }

// quotation is a text in quotes, as quoted makes it, also one that was cut off.
var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// withoutValues is a message with … in the place of what it quotes.
func withoutValues(message string) string { return quotation.ReplaceAllString(message, "…") }

// count is "1 message" or "2 messages".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Short is an id as people read it in lists, and as commands take it: its first eight
// characters, behind the last slash where it has any, as "user/id" (see eventlog).
func Short(id string) string {
	own := id[strings.LastIndexByte(id, '/')+1:]
	if runes := []rune(own); len(runes) > 12 {
		return strings.TrimSuffix(id, own) + string(runes[:8])
	}
	return id
}

// list joins words: "a", "a and b", "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// some lists the first few of many words, and how many more there are.
func some(words []string) string {
	const most = 4
	if more := len(words) - most; more > 1 {
		words = append(slices.Clone(words[:most]), strconv.Itoa(more)+" more")
	}
	return list(words)
}

// callName is a call for people: "toolu_9aa (shell)".
func callName(c *session.Call) string {
	id := c.ID
	if id == "" {
		id = "(no id)"
	}
	if c.Name == "" {
		return id
	}
	return id + " (" + c.Name + ")"
}

// verb picks the form for one or for several.
func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

func agentName(a string) string {
	if a == "" {
		return "an agent without a name"
	}
	return quoted(a)
}
