package rules

import (
	"maps"
	"slices"
)

var visibilityGap = Rule{
	ID: "SC713", Name: "visibility-gap", Severity: Info, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "what agents said earlier is hidden from others that ran after them",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			p.reportGaps(s)
		}
	},
}

// reportGaps tells what later agents of a session cannot see although those who
// said it were done. A gap is one of a single run: what branches of other runs mean
// to an agent, every model decides in its own way.
func (p *Pass) reportGaps(s *Subject) {
	runs := map[string][]int{}
	var order []string
	paired := true
	for i := range s.Items {
		it := &s.Items[i]
		if it.Branch == "" || !s.speaks(i) {
			continue
		}
		if runs[it.Invocation] == nil {
			order = append(order, it.Invocation)
		}
		runs[it.Invocation] = append(runs[it.Invocation], i)
	}
	g := gaps{reducers: p.Store.ForeignText, hidden: map[int]bool{}, readers: map[string]int{}}
	var all [][]label
	for _, run := range order {
		labels := slices.DeleteFunc(s.labelsOf(runs[run]), func(l label) bool { return l.hollow() || slices.ContainsFunc(l.segments, counted) })
		paired = paired && !slices.ContainsFunc(labels, func(l label) bool { return len(l.segments)%2 == 1 })
		all = append(all, labels)
	}
	g.paired = paired
	for _, labels := range all {
		g.level(labels, 0)
	}
	if len(g.hidden) > 0 {
		p.reportHidden(s, &g)
	}
}

func (p *Pass) reportHidden(s *Subject, g *gaps) {
	items := slices.Sorted(maps.Keys(g.hidden))
	f := p.find(s.Session, items[0])
	f.Items = items
	from := map[string]bool{}
	for _, i := range items {
		from[quoted(s.Items[i].Branch)] = true
	}
	var to []string
	for _, text := range slices.Sorted(maps.Keys(g.readers)) {
		to = append(to, quoted(text))
		f.Related = append(f.Related, Place{Session: s.ID, Item: g.readers[text]})
	}
	f.Message = "agents that ran on " + some(to) + " cannot see " + count(len(items), "earlier event") +
		" on " + some(slices.Sorted(maps.Keys(from)))
	p.Report(f)
}
