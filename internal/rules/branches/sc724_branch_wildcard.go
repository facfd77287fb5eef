package branches

import (
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/rules"
)

var branchWildcard = rules.Rule{
	ID: "SC724", Name: "branch-wildcard", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a branch whose name an SQL filter reads as a pattern",
	Run: func(p *rules.Pass) {
		if !p.Store.LikeFilter {
			return
		}
		for _, s := range p.Subjects {
			all := pathLabels(s)
			alike := takenFor(all)
			for i := range all {
				if why := describeMisread(&all[i], alike, p.Store.FoldsBranches); why != "" {
					reportPattern(p, s, &all[i], why)
				}
			}
		}
	},
}

// describeMisread says what LIKE makes of a label, "" when that is what the label says; of case
// SC732 tells where the database overlooks it everywhere.
func describeMisread(l *label, alike map[string]string, folds bool) string {
	other, taken := alike[l.text]
	switch {
	case strings.Contains(l.text, "%"):
		return "contains %, which matches any text in LIKE. Agents on other branches are shown its events."
	case strings.Contains(l.text, `\`):
		return `contains \, which is an escape in LIKE in PostgreSQL and MySQL. Agents below the branch are not shown its events.`
	case taken && strings.EqualFold(l.text, other) && folds:
	case taken && strings.EqualFold(l.text, other):
		return "differs from " + rules.QuoteText(other) + " only in case, which LIKE ignores in SQLite and MySQL. Agents below one of them are shown the events of the other."
	case taken:
		return "also matches " + rules.QuoteText(other) + " in LIKE, where _ is any character. Agents below that branch are shown its events."
	}
	return ""
}

// takenFor says of labels which other branch LIKE takes for theirs: one of the
// session, or one above it, that has another character where the label has an
// "_", or another case. SQLite overlooks the case of ASCII letters in LIKE.
func takenFor(all []label) map[string]string {
	type shape struct {
		length int    // in characters
		blanks string // where the label has an "_"
	}
	asked := map[shape]map[string][]string{} // labels by their lower case
	byLength := map[int][]string{}           // branches, of the lengths asked
	for _, l := range all {
		of := shape{utf8.RuneCountInString(l.text), blankPattern(l.text)}
		if asked[of] == nil {
			asked[of] = map[string][]string{}
		}
		low := lowerASCII(l.text)
		asked[of][low] = append(asked[of][low], l.text)
		byLength[of.length] = nil
	}
	known := map[string]bool{}
	for _, l := range all {
		end, length := -1, -1
		for _, segment := range l.segments {
			end += 1 + len(segment)
			length += 1 + utf8.RuneCountInString(segment)
			if others, wanted := byLength[length]; wanted && !known[l.text[:end]] {
				known[l.text[:end]] = true
				byLength[length] = append(others, l.text[:end])
			}
		}
	}
	alike := map[string]string{}
	for of, patterns := range asked {
		for _, other := range byLength[of.length] {
			for _, text := range patterns[lowerASCII(putBlanks(other, of.blanks))] {
				if least, met := alike[text]; text != other && (!met || other < least) {
					alike[text] = other
				}
			}
		}
	}
	return alike
}

// blankPattern are the places of "_" in a text: one byte a character.
func blankPattern(text string) string {
	var places []byte
	for _, r := range text {
		if r == '_' {
			places = append(places, '_')
		} else {
			places = append(places, '.')
		}
	}
	return string(places)
}

// putBlanks puts "_" into a text in the places given.
func putBlanks(text, places string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if places[n] == '_' {
			r = '_'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

func reportPattern(p *rules.Pass, s *rules.Subject, l *label, why string) {
	f := p.FindItems(s.Session, l.items)
	f.Message = "the branch " + rules.QuoteText(l.text) + " of " + rules.CountedNoun(len(l.items), "event") + " " + why
	p.Report(f)
}
