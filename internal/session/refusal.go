package session

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Refusal is the error that a runtime stored in the place of an answer. The zero value is none.
type Refusal struct {
	Status int    // of HTTP, 0 where neither the store nor the text tells
	Text   string // as the runtime stored it, its beginning where it is long
}

// longestRefusal is how much of a text is kept, in bytes: the sentences of providers are shorter.
const longestRefusal = 1000

// RefusalOf is that of a text, which may be a part of a row; where the status is 0, the
// beginning of the text may tell it.
func RefusalOf(status int, text string) Refusal {
	if len(text) > longestRefusal {
		text = strings.ToValidUTF8(text[:longestRefusal], "")
	}
	if status == 0 && text != "" {
		if m := statusForm().FindStringSubmatch(text); m != nil {
			status, _ = strconv.Atoi(m[1])
		}
	}
	return Refusal{Status: status, Text: strings.Clone(strings.TrimSpace(text))}
}

// statusForm is how clients tell it: "API Error: 400 …", "error 400 Bad Request: …",
// "Error code: 400 - …", "Request failed: Bad request (400): …".
var statusForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^"{\n]{0,80}?(?i:error:?|code:?|status:?|\() ?([45]\d\d)\b`)
})
