// Package catalogue is the one table of all rules, and how people name them.
package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/branches"
	"github.com/sessctl/sessctl/internal/rules/damage"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/rules/isolation"
	"github.com/sessctl/sessctl/internal/rules/pairs"
	"github.com/sessctl/sessctl/internal/rules/recorded"
	"github.com/sessctl/sessctl/internal/rules/request"
)

// All is the catalogue in the order of ids: the one table of all rules.
var All = slices.SortedFunc(slices.Values(slices.Concat(
	damage.Rules,
	pairs.Rules,
	request.Rules,
	delegation.Rules,
	branches.Rules,
	recorded.Rules,
	isolation.Rules,
)), func(a, b *rules.Rule) int { return strings.Compare(a.ID, b.ID) })

// FindRule looks a rule up by id or name, in any case; nil when there is none.
func FindRule(word string) *rules.Rule {
	for _, r := range All {
		if strings.EqualFold(r.ID, word) || strings.EqualFold(r.Name, word) {
			return r
		}
	}
	return nil
}

// UsualRules are the rules that run when nobody names any.
func UsualRules() []*rules.Rule {
	return slices.DeleteFunc(slices.Clone(All), func(r *rules.Rule) bool { return r.Optional })
}

// SelectRules returns the rules that the words choose: ids, names or prefixes of ids
// ("SC7"), in any case. No words of select means the usual rules; ignore takes away.
// A word that matches nothing is an UnknownRule.
func SelectRules(selected, ignored []string) ([]*rules.Rule, error) {
	matches := func(words []string, r *rules.Rule) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(r.ID, strings.ToUpper(w)) || strings.EqualFold(r.Name, w)
		})
	}
	for _, w := range slices.Concat(selected, ignored) {
		if w == "" || !slices.ContainsFunc(All, func(r *rules.Rule) bool { return matches([]string{w}, r) }) {
			return nil, UnknownRule(w)
		}
	}
	var chosen []*rules.Rule
	for _, r := range All {
		wanted := matches(selected, r) || len(selected) == 0 && !r.Optional
		if wanted && !matches(ignored, r) {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

// UnknownRule is the error about a word that no rule is called.
type UnknownRule string

func (u UnknownRule) Error() string { return fmt.Sprintf("there is no rule %q", string(u)) }
