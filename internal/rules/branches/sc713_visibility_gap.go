package branches

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
)

var visibilityGap = rules.Rule{
	ID: "SC713", Name: "visibility-gap", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "agents cannot see what others said before they ran",
	Run: func(p *rules.Pass) {
		for _, s := range p.Subjects {
			reportGaps(p, s)
		}
	},
}

// run are the items that agents said in one invocation.
type run struct{ root, branched []int }

// reportGaps tells what later agents of a session cannot see although those who
// said it were done. A gap is one of a single run: what branches of other runs mean
// to an agent, every model decides in its own way.
func reportGaps(p *rules.Pass, s *rules.Subject) {
	runs := map[string]*run{}
	var order []*run
	for i := range s.Items {
		it := &s.Items[i]
		if !speaks(s, i) || it.Branch == "" && it.Agent == "" {
			continue // a result without an agent is one that the user posted
		}
		r := runs[it.Invocation]
		if r == nil {
			r = &run{}
			runs[it.Invocation], order = r, append(order, r)
		}
		if it.Branch == "" {
			r.root = append(r.root, i)
		} else {
			r.branched = append(r.branched, i)
		}
	}
	g := gaps{paired: true, reducers: p.Store.ForeignText, hidden: map[int]bool{}, readers: map[string]int{}}
	var all [][]label
	for _, r := range order {
		labels := slices.DeleteFunc(labelsOf(s, r.branched), func(l label) bool { return l.hollow() || slices.ContainsFunc(l.segments, counted) })
		g.paired = g.paired && !slices.ContainsFunc(labels, func(l label) bool { return len(l.segments)%2 == 1 })
		all = append(all, append([]label{{items: r.root}}, labels...))
	}
	for _, labels := range all {
		g.level(labels, 0)
	}
	if len(g.hidden) > 0 {
		reportHidden(p, s, &g)
	}
}

func reportHidden(p *rules.Pass, s *rules.Subject, g *gaps) {
	items := slices.Sorted(maps.Keys(g.hidden))
	f := p.Find(s.Session, items[0])
	f.Items = items
	from := map[string]bool{}
	for _, i := range items {
		from[rules.Quoted(s.Items[i].Branch)] = true
	}
	var to []string
	for _, text := range slices.Sorted(maps.Keys(g.readers)) {
		to = append(to, rules.Quoted(text))
		f.Related = append(f.Related, s.At(g.readers[text]))
	}
	f.Message = "agents that ran on " + rules.Some(to) + " cannot see " + rules.Count(len(items), "earlier event") +
		" on " + rules.Some(slices.Sorted(maps.Keys(from)))
	p.Report(f)
}
