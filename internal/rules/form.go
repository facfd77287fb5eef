package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/pattern"
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

// startWith limits the first character, of which there has to be one.
func (f *Form) startWith(set string) *Form {
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

// FitsForm reports whether a text has a form; every text fits nil.
func FitsForm(f *Form, text string) bool {
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

// WireIDs is how an adapter names the calls of a conversation to the provider:
// ids that it takes stay as they are, each other id gets one that no call has.
// The map holds for the whole conversation, for calls and results alike, so it
// takes all its ids, in stored order: those of tools that the provider ran, or
// those of all others.
func (p *Profile) WireIDs(ids []string, server bool) map[string]string {
	return distinctForms(p.IDForm(server), ids)
}

// WireNames is the same for the names of tools.
func (p *Profile) WireNames(names []string) map[string]string {
	return distinctForms(p.ToolName, names)
}

// IDForm is what the id of a call may be, nil for anything.
func (p *Profile) IDForm(server bool) *Form {
	if server {
		return p.ServerID
	}
	return p.CallID
}

// SentFor is what an adapter sends for one of the texts of a conversation: one
// that the provider does not take, or that fits and is long.
func SentFor(form *Form, text string, all []string) string {
	if FitsForm(form, text) {
		return ReformedText(form, text, 0)
	}
	return distinctForms(form, all)[text]
}

// distinctForms gives every text one that has the form, and no two the same.
func distinctForms(form *Form, texts []string) map[string]string {
	sent, taken := map[string]string{}, map[string]bool{}
	for _, text := range texts {
		if FitsForm(form, text) {
			sent[text], taken[text] = text, true
		}
	}
	for _, text := range texts {
		if _, done := sent[text]; done {
			continue
		}
		name := ReformedText(form, text, 0)
		for try := 1; taken[name]; try++ {
			name = ReformedText(form, text, try)
		}
		sent[text], taken[name] = name, true
	}
	return sent
}

// unfit are the characters that some provider does not take.
var unfit = pattern.Lazy(`[^a-zA-Z0-9_-]`)

// ReformedText puts a text into a form. It ends in a hash of the original, so that
// texts that differ in unfit characters only stay apart; a later try has
// another one.
func ReformedText(form *Form, text string, try int) string {
	sum := sha256.Sum256([]byte(text + strings.Repeat("\x00", try)))
	hash := hex.EncodeToString(sum[:])
	readable := unfit().ReplaceAllString(text, "_")
	readable = fmt.Sprintf("%.31s_%s", readable, hash[:8])
	nine := new(big.Int).SetBytes(sum[:]).Text(62)[:9]
	for _, name := range []string{readable, "_" + readable, nine} {
		if FitsForm(form, name) {
			return name
		}
	}
	return "srvtoolu_" + hash[:24]
}
