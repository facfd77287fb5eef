// Package builder is what the packages share that build stores of one kind for tests
// (adk/adktest and its neighbours): SQL that stands in files, rows, ids, and JSON as
// other languages write it. Nothing here reads the clock or the system's randomness,
// so that the same calls give the same store.
package builder

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// Section is a part of a file of SQL. It begins with a line "--- NAME ABOUT", and each of
// its statements ends with a semicolon at the end of a line.
type Section struct {
	Name, About string
	Statements  []string
}

var comment = regexp.MustCompile(`(?m)^-- .*\n`)

// Sections are the parts of a file, which begins with a comment.
func Sections(text string) []Section {
	var list []Section
	for _, part := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n--- ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		var s Section
		s.Name, s.About, _ = strings.Cut(head, " ")
		for statement := range strings.SplitSeq(comment.ReplaceAllString(body, ""), ";\n") {
			if statement = strings.TrimSpace(statement); statement != "" {
				s.Statements = append(s.Statements, statement)
			}
		}
		list = append(list, s)
	}
	return list
}

// Statements are those of the sections of these names, one section after the other. All
// of them must be there.
func Statements(sections []Section, names ...string) []string {
	var list []string
	for _, name := range names {
		found := false
		for _, s := range sections {
			if s.Name == name {
				found, list = true, append(list, s.Statements...)
			}
		}
		if !found {
			panic("no section " + name)
		}
	}
	return list
}

// UUID draws a random UUID of version 4.
func UUID(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

// OrNil is a value as a column has it that is NULL for nothing.
func OrNil[T comparable](value T) any {
	var nothing T
	if value == nothing {
		return nil
	}
	return value
}
