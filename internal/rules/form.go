package rules

import (
	"strings"
	"unicode/utf8"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// Form is what an id or a name may be. It is a table, because every call of every
// request is held against it: a regular expression took a tenth of a check.
type Form struct {
	prefix      string
	first, rest *characters // behind the prefix
	least, most int         // characters behind the prefix
}

// characters are a set of ASCII characters; nil is any character of Unicode.
type characters [256]bool

// formOf is a form of a prefix and some characters of a set, "" for any.
func formOf(prefix, set string, least, most int) *Form {
	all := setOf(set)
	return &Form{prefix, all, all, least, most}
}

// starting limits the first character, of which there has to be one.
func (f *Form) starting(set string) *Form {
	f.first = setOf(set)
	return f
}

func setOf(set string) *characters {
	if set == "" {
		return nil
	}
	var c characters
	for i := range len(set) {
		c[set[i]] = true
	}
	return &c
}

// Fits reports whether a text has a form; every text fits nil.
func Fits(f *Form, text string) bool {
	if f == nil {
		return true
	}
	text, ok := strings.CutPrefix(text, f.prefix)
	if !ok {
		return false
	}
	if f.rest == nil {
		n := utf8.RuneCountInString(text)
		return f.least <= n && n <= f.most
	}
	if len(text) < f.least || len(text) > f.most || !f.first[text[0]] {
		return false
	}
	for i := 1; i < len(text); i++ {
		if !f.rest[text[i]] {
			return false
		}
	}
	return true
}
