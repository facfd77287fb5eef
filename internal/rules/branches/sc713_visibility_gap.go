package branches

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
)

var visibilityGap = rules.Rule{
	ID: "SC713", Name: "visibility-gap", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "agents cannot see what others said before they ran",
	Run:   rules.VisitSubjects(reportGaps),
}

// reportGaps tells what later agents of a session cannot see although those who
// said it were done. A gap is one of a single run: what branches of other runs mean
// to an agent, every model decides in its own way.
func reportGaps(p *rules.Pass, s *rules.Subject) {
	var spoken []int
	for i := range s.Items {
		if it := &s.Items[i]; isSpoken(s, i) && (it.Branch() != "" || it.Agent() != "") { // a result without an agent is one that the user posted
			spoken = append(spoken, i)
		}
	}
	inRoot := func(i int) bool { return s.Items[i].Branch() == "" }
	g := gaps{paired: true, reducers: p.Store.ForeignText, hidden: map[int]bool{}, readers: map[string]int{}}
	var all [][]label
	for _, items := range lists.GroupBy(spoken, func(i int) string { return s.Items[i].Invocation() }) {
		branched := slices.DeleteFunc(slices.Clone(items), inRoot)
		root := slices.DeleteFunc(items, func(i int) bool { return !inRoot(i) })
		labels := slices.DeleteFunc(labelsOf(s, branched), func(l label) bool { return l.isHollow() || slices.ContainsFunc(l.segments, isCounted) })
		g.paired = g.paired && !slices.ContainsFunc(labels, func(l label) bool { return len(l.segments)%2 == 1 })
		all = append(all, append([]label{{items: root}}, labels...))
	}
	for _, labels := range all {
		g.walkLevel(labels, 0)
	}
	if len(g.hidden) > 0 {
		reportHidden(p, s, &g)
	}
}

func reportHidden(p *rules.Pass, s *rules.Subject, g *gaps) {
	items := slices.Sorted(maps.Keys(g.hidden))
	f := p.FindItems(s.Session, items)
	from := map[string]bool{}
	for _, i := range items {
		from[rules.QuoteText(s.Items[i].Branch())] = true
	}
	var to []string
	for _, text := range slices.Sorted(maps.Keys(g.readers)) {
		to = append(to, rules.QuoteText(text))
		f.Related = append(f.Related, s.ItemPlace(g.readers[text]))
	}
	f.Message = "agents that ran on " + rules.JoinFew(to) + " cannot see " + rules.CountedNoun(len(items), "earlier event") +
		" on " + rules.JoinFew(slices.Sorted(maps.Keys(from)))
	p.Report(f)
}
