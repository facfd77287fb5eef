package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Choice is a flag that takes one of a few words.
type Choice struct {
	Values   []string
	standard string // the default, which may be "" for none
	value    string
}

// AddChoice declares such a flag; the usage goes on with the words.
func AddChoice(flags *pflag.FlagSet, name, standard string, values []string, usage string) {
	flags.Var(&Choice{Values: values, standard: standard, value: standard}, name, usage+": "+orList(values))
}

func (c *Choice) String() string { return c.value }

// Type is what the help shows behind the flag.
func (c *Choice) Type() string { return "WORD" }

// Set implements pflag.Value.
func (c *Choice) Set(word string) error {
	if !c.Has(word) {
		return c.wrong()
	}
	c.value = word
	return nil
}

// Has reports whether the word is the default or one of the values.
func (c *Choice) Has(word string) bool { return word == c.standard || slices.Contains(c.Values, word) }

// wrong says what may be chosen.
func (c *Choice) wrong() error { return fmt.Errorf("use %s", orList(c.Values)) }

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
