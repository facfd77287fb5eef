package branches

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var legacyPrefixLeak = rules.Rule{
	ID: "SC722", Name: "legacy-prefix-leak", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "older versions showed an event to an agent on another branch whose name begins alike",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		told := map[int]int{} // several findings of one item are findings of their own
		for _, pair := range prefixPairs(pathLabels(s)) {
			if leaked := leakedByPrefix(p, s, pair); len(leaked) > 0 {
				reportPrefixLeak(p, s, pair, leaked, told[leaked[0]])
				told[leaked[0]]++
			}
		}
	}),
}

// leakedByPrefix are the items of the shorter label that an agent on the longer
// one was shown by readers of the store that compare texts: those before the last that it
// said. There are none where the store has no such readers.
func leakedByPrefix(p *rules.Pass, s *rules.Subject, pair prefixPair) []int {
	if p.Store.PrefixReaders == "" {
		return nil
	}
	ran := lastSaid(s, pair.long)
	return slices.DeleteFunc(slices.Clone(pair.short.items), func(i int) bool { return i >= ran || !isShown(s, i) })
}

// lastSaid is the last item of a label that an agent said, -1 when none did.
func lastSaid(s *rules.Subject, l *label) int {
	for n := len(l.items) - 1; n >= 0; n-- {
		if isSpoken(s, l.items[n]) {
			return l.items[n]
		}
	}
	return -1
}

func reportPrefixLeak(p *rules.Pass, s *rules.Subject, pair prefixPair, leaked []int, nth int) {
	f := p.FindItems(s.Session, leaked)
	f.Nth = nth
	f.Related = []session.Place{s.ItemPlace(lastSaid(s, pair.long))}
	f.Message = "the agent on " + rules.QuoteText(pair.long.text) + " ran after " + rules.CountedNoun(len(leaked), "event") + " on " + rules.QuoteText(pair.short.text) +
		" that it must not see"
	const because = " it such events, because the names of the two branches begin alike"
	switch {
	case p.Store.PrefixUntold:
		f.Severity = rules.Info
		f.AddSentence(p.Store.PrefixReaders + " showed" + because)
		f.AddSentence("The store does not say which version wrote these events")
	case bySegments(s, pair):
		f.Severity = rules.Info
		f.AddSentence(p.Store.PrefixReaders + " would have shown" + because)
		f.AddSentence("Later versions wrote the events on these branches")
	default:
		f.AddSentence(p.Store.PrefixReaders + " showed" + because)
	}
	p.Report(f)
}
