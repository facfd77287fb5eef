package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// choice is a flag that takes one of a few words.
type choice struct {
	values   []string
	standard string // the default, which may be "" for none
	value    string
}

// AddChoice declares a flag that takes one of a few words, or none when the
// default is "". The usage goes on with the words.
func AddChoice(flags *pflag.FlagSet, name, standard string, values []string, usage string) {
	flags.Var(&choice{values: values, standard: standard, value: standard}, name, usage+": "+orList(values))
}

func (c *choice) String() string { return c.value }

// Type is what the help shows behind the flag.
func (c *choice) Type() string { return "WORD" }

// Set implements pflag.Value.
func (c *choice) Set(word string) error {
	if !c.has(word) {
		return c.wrong()
	}
	c.value = word
	return nil
}

// has reports whether the word is the default or one of the values.
func (c *choice) has(word string) bool { return word == c.standard || slices.Contains(c.values, word) }

// wrong says what may be chosen.
func (c *choice) wrong() error { return fmt.Errorf("use %s", orList(c.values)) }

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
