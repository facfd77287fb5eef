package branches

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var branchPrefixAmbiguous = rules.Rule{
	ID: "SC711", Name: "branch-prefix-ambiguous", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a branch whose name begins with the name of another branch that is not above it",
	Run:   rules.VisitSubjects(reportAmbiguous),
}

// prefixPair are two labels of which the longer begins with the shorter's text
// without being below it: "orch" and "orchestra".
type prefixPair struct{ short, long *label }

// prefixPairs are all such pairs of a session. Two runs of one node or tool
// ("tr@1", "tr@10") are none: no reader that takes a text for a segment knows
// labels of that form (they came with adk-python 2 and adk-go 2).
func prefixPairs(all []label) []prefixPair {
	byText := make([]*label, 0, len(all))
	for i := range all {
		if !all[i].isHollow() {
			byText = append(byText, &all[i])
		}
	}
	slices.SortFunc(byText, func(a, b *label) int { return strings.Compare(a.text, b.text) })
	var pairs []prefixPair
	var open []*label // those that the one at hand begins with
	for _, long := range byText {
		for len(open) > 0 && !strings.HasPrefix(long.text, open[len(open)-1].text) {
			open = open[:len(open)-1]
		}
		for _, short := range open {
			above := strings.HasPrefix(long.text, short.text+".")
			if !above && !isCounted(long.segments[len(short.segments)-1]) {
				pairs = append(pairs, prefixPair{short, long})
			}
		}
		open = append(open, long)
	}
	return pairs
}

// reportAmbiguous tells of the pairs where nothing leaked; the others are SC722.
func reportAmbiguous(p *rules.Pass, s *rules.Subject) {
	var words []string
	var items []int
	told := map[*label]bool{}
	later := true // every record is one of a version that compares segments
	for _, pair := range prefixPairs(pathLabels(s)) {
		if len(leakedByPrefix(p, s, pair)) > 0 {
			continue
		}
		words, later = append(words, pair.String()), later && bySegments(s, pair)
		if !told[pair.short] {
			told[pair.short] = true
			items = append(items, pair.short.items...)
		}
	}
	if len(words) == 0 {
		return
	}
	slices.Sort(items)
	f := p.FindItems(s.Session, items)
	f.Count = len(words)
	if later {
		f.Severity = rules.Info
	}
	f.Message = rules.CountedNoun(len(words), "pair") + " of unrelated branches" + rules.VerbForm(len(words), " has", " have") + " names that begin alike: " + rules.JoinFew(words)
	f.AddSentence("A runtime that compares names as text shows agents on the longer one the events of the shorter one")
	p.Report(f)
}

// bySegments reports whether all items on two branches were written by versions of the
// runtime that compare segments.
func bySegments(s *rules.Subject, pair prefixPair) bool {
	older := func(i int) bool { return !s.Items[i].Flags.Has(session.BySegments) }
	return !slices.ContainsFunc(pair.short.items, older) && !slices.ContainsFunc(pair.long.items, older)
}

func (pair prefixPair) String() string {
	return rules.QuoteText(pair.short.text) + " and " + rules.QuoteText(pair.long.text)
}
