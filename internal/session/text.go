package session

import (
	"encoding/json"
	"strings"
)

// FormOf says what the text of a call's arguments is.
func FormOf(args string) ArgsForm {
	switch {
	case args == "":
		return ArgsObject
	case !json.Valid([]byte(args)):
		return ArgsBroken
	case strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{"):
		return ArgsObject
	}
	return ArgsValue
}

// TextFlags are the flags that the text of a message gives its item.
func TextFlags(text string) Flags {
	switch trimmed := strings.TrimSpace(text); {
	case text == "":
		return 0
	case trimmed == "":
		return BlankText | TrailingSpace
	case !strings.HasSuffix(text, trimmed):
		return TrailingSpace
	}
	return 0
}

// IsServerCall reports whether an id is one that a provider gives to calls of
// tools that it runs itself (Anthropic).
func IsServerCall(id string) bool { return strings.HasPrefix(id, "srvtoolu_") }
