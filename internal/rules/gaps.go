package rules

import (
	"math"
	"slices"
)

// gaps collects what agents cannot see of others that were done before they ran,
// from the paths of one run and the order of its events.
//
// adk-python since 1.2 and adk-go write pairs: a parallel agent's name and the child's
// ("fin.g1.abc.a" is fin/g1, abc/a). So labels that differ first at a parallel's
// place are of groups that came one after the other, and those that differ first at
// a child's are of branches that ran side by side. Labels of full paths
// ("root.par1.a") do not tell; there, groups count as one after the other if their
// events are.
type gaps struct {
	paired   bool // all labels can be read as pairs
	reducers bool // an agent on a branch is meant to read what was said below it
	hidden   map[int]bool
	readers  map[string]int // labels that cannot see something: their first event that could not
}

// group are the labels below one child of a level.
type group struct {
	labels      []label
	first, last int // of its events
}

// level looks at labels that have their first segments in common, as many as depth says.
func (g *gaps) level(labels []label, depth int) {
	if len(labels) == 0 {
		return
	}
	if own := &labels[0]; len(own.segments) == depth {
		labels = labels[1:]
		if g.reducers && depth > 0 {
			g.below(own, labels)
		}
	}
	var groups []group
	for len(labels) > 0 {
		n := 1
		for n < len(labels) && labels[n].segments[depth] == labels[0].segments[depth] {
			n++
		}
		g.level(labels[:n], depth+1)
		inside := labels[:n]
		if len(inside[0].segments) == depth+1 {
			inside = inside[1:]
		}
		if len(inside) > 0 {
			groups = append(groups, groupOf(inside))
		}
		labels = labels[n:]
	}
	switch {
	case len(groups) < 2:
	case !g.paired:
		g.apart(groups)
	case depth%2 == 0:
		g.inTurn(groups)
	}
}

func groupOf(labels []label) group {
	made := group{labels: labels, first: math.MaxInt, last: -1}
	for _, l := range labels {
		made.first = min(made.first, l.items[0])
		made.last = max(made.last, l.items[len(l.items)-1])
	}
	return made
}

// below hides from the last event of a label what was said below it before.
func (g *gaps) below(own *label, labels []label) {
	first := math.MaxInt
	for _, l := range labels {
		g.hide(l, own.items[len(own.items)-1])
		first = min(first, l.items[0])
	}
	g.reads(*own, first)
}

// inTurn hides what groups of one sequence said from those of others that ran
// later, whichever came first: a loop runs them again and again.
func (g *gaps) inTurn(groups []group) {
	lastOther := others(groups, func(x group) int { return x.last })
	firstOther := others(groups, func(x group) int { return -x.first })
	for n, x := range groups {
		for _, l := range x.labels {
			g.hide(l, lastOther(n))
			g.reads(l, -firstOther(n))
		}
	}
}

// apart hides what a group said from those of which every event came later.
func (g *gaps) apart(groups []group) {
	start, end := -1, math.MaxInt
	for _, x := range groups {
		start, end = max(start, x.first), min(end, x.last)
	}
	for _, x := range groups {
		for _, l := range x.labels {
			if x.last < start {
				g.hide(l, start)
			}
			if end < x.first {
				g.reads(l, end)
			}
		}
	}
}

// hide notes the events of a label before an item.
func (g *gaps) hide(l label, before int) {
	for _, i := range l.items {
		if i < before {
			g.hidden[i] = true
		}
	}
}

// reads notes that a label's events behind an item could not see it.
func (g *gaps) reads(l label, behind int) {
	at, _ := slices.BinarySearch(l.items, behind)
	if at == len(l.items) {
		return
	}
	if known, met := g.readers[l.text]; !met || l.items[at] < known {
		g.readers[l.text] = l.items[at]
	}
}

// others gives, for each index, the greatest value of all groups but that one.
func others(groups []group, value func(group) int) func(n int) int {
	best, second, at := math.MinInt, math.MinInt, -1
	for n, x := range groups {
		switch v := value(x); {
		case v > best:
			best, second, at = v, best, n
		case v > second:
			second = v
		}
	}
	return func(n int) int {
		if n == at {
			return second
		}
		return best
	}
}
