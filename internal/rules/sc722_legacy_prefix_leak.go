package rules

import "github.com/sessctl/sessctl/internal/session"

var legacyPrefixLeak = Rule{
	ID: "SC722", Name: "legacy-prefix-leak", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "an event that older readers showed to an agent of another branch, whose name begins alike",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			told := map[int]int{} // several findings of one item are findings of their own
			for _, pair := range prefixPairs(s.labels()) {
				if leaked := p.leakedByPrefix(s, pair); len(leaked) > 0 {
					p.reportPrefixLeak(s, pair, leaked, told[leaked[0]])
					told[leaked[0]]++
				}
			}
		}
	},
}

// leakedByPrefix are the items of the shorter label that an agent on the longer
// one was shown by readers of the store that compare texts: those before the last that it
// said. There are none where the store has no such readers.
func (p *Pass) leakedByPrefix(s *Subject, pair prefixPair) []int {
	if p.Store.PrefixReaders == "" {
		return nil
	}
	ran := s.lastSaid(pair.long)
	var leaked []int
	for _, i := range pair.short.items {
		if i < ran && s.shown(i) {
			leaked = append(leaked, i)
		}
	}
	return leaked
}

// lastSaid is the last item of a label that an agent said, -1 when none did.
func (s *Subject) lastSaid(l *label) int {
	for n := len(l.items) - 1; n >= 0; n-- {
		if s.speaks(l.items[n]) {
			return l.items[n]
		}
	}
	return -1
}

func (p *Pass) reportPrefixLeak(s *Subject, pair prefixPair, leaked []int, nth int) {
	f := p.find(s.Session, leaked[0])
	f.Items, f.Nth = leaked, nth
	f.Related = []session.Place{s.At(s.lastSaid(pair.long))}
	f.Message = "the agent on " + quoted(pair.long.text) + " ran after " + count(len(leaked), "event") + " on " + quoted(pair.short.text) +
		", which it must not see; " + p.Store.PrefixReaders
	if s.bySegments(pair) {
		f.Severity = Info
		f.Message += " would have shown it such events, because another name begins with that one, but later versions wrote what stands on these branches"
	} else {
		f.Message += " showed it such events, because another name begins with that one"
	}
	p.Report(f)
}
