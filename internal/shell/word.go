// Package shell writes words of command lines that people paste. A word is read back
// as the same text by every POSIX shell and by fish, whatever a store holds, and it
// prints as it is: on one line, without a character that ui.Clean would change, and
// without a backquote, between which a message has its commands.
package shell

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/internal/ui"
)

const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Word is text as one word. What quotes alone cannot carry over a terminal (a line
// break, an escape sequence, an invisible character) is written as octal numbers,
// which printf makes text of again. Line breaks at the end are lost in that form, and
// NUL, which no program can be given, is too.
func Word(text string) string {
	if other, ok := typed.Load(text); ok {
		text = other.(string) //nolint:revive // only texts are stored
	}
	if ui.Clean(text) == text && !strings.Contains(text, "`") {
		if text != "" && text[0] != '=' && strings.Trim(text, letters+"/._-+:@%,=") == "" { // zsh looks for a program called as what follows =
			return text
		}
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var octal strings.Builder
	for i := range len(text) {
		if c := text[i]; strings.IndexByte(letters+"/._-", c) >= 0 {
			octal.WriteByte(c)
		} else if c != 0 {
			fmt.Fprintf(&octal, `\0%03o`, c)
		}
	}
	return `"$(printf %b '` + octal.String() + `')"`
}

// typed are words of commands by the names that stand for them elsewhere.
var typed sync.Map

// SetTyped makes every command name a store by a word that leads there, where the name that
// reports have does not tell all of the way.
func SetTyped(name, word string) { typed.Store(name, word) }

// Words are texts as words.
func Words(texts []string) []string {
	words := make([]string, len(texts))
	for i, text := range texts {
		words[i] = Word(text)
	}
	return words
}

// Path is the path of a file as one word that no command takes for a flag. "-" stays:
// it is standard input.
func Path(path string) string {
	if strings.HasPrefix(path, "-") && path != "-" {
		path = "./" + path
	}
	return Word(path)
}

// HomePath is a path that may be in the home folder, as ~ where every shell puts that folder
// for it: nothing of such a word is quoted.
func HomePath(path, home string) string {
	short := ui.Tilde(path, home)
	rest, is := strings.CutPrefix(short, "~/")
	if !is || short == path || Word(rest) != rest {
		return Path(path)
	}
	return short
}

// ViewCommand is the command that shows a session of a store, "" for the one at its usual place.
func ViewCommand(store, id string, flags ...string) string {
	return SessionCommand("view", store, id, flags...)
}

// SessionCommand is a command about a session of a store. An id that begins as flags do stands
// behind --, where nothing is a flag. Of one with a NUL, which no program can be given, the
// beginning has to do.
func SessionCommand(command, store, id string, flags ...string) string {
	var operands []string
	if store != "" {
		operands = append(operands, Path(store))
	}
	id, _, _ = strings.Cut(id, "\x00")
	operands = append(operands, Word(id))
	words := slices.Concat(operands, flags)
	if strings.HasPrefix(id, "-") {
		words = slices.Concat(flags, []string{"--"}, operands)
	}
	return "sessctl " + command + " " + strings.Join(words, " ")
}
