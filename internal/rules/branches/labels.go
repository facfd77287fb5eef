package branches

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// label is a branch that is a path of agents, with the items that carry it.
type label struct {
	text     string
	segments []string
	items    []int // in stored order
}

// pathLabels are the branches of a session, each before those below it. Sets of
// tokens and forks are no paths and left out, and so is what no model sees.
func pathLabels(s *rules.Subject) []label {
	var items []int
	for i := range s.Items {
		if it := &s.Items[i]; it.Branch() != "" && it.Kind != session.Other {
			items = append(items, i)
		}
	}
	return labelsOf(s, items)
}

// labelsOf are the branches of these items.
func labelsOf(s *rules.Subject, items []int) []label {
	var all []label
	for _, items := range lists.GroupBy(items, func(i int) string { return s.Items[i].Branch() }) {
		if text := s.Items[items[0]].Branch(); branch.ParseLabel(text).Path != "" {
			all = append(all, label{text, strings.Split(text, "."), items})
		}
	}
	slices.SortFunc(all, func(a, b label) int { return slices.Compare(a.segments, b.segments) })
	return all
}

// lastSegment is the last segment: the agent that the branch is named after.
func (l *label) lastSegment() string { return l.segments[len(l.segments)-1] }

// isHollow reports whether a segment is empty: a dot too many.
func (l *label) isHollow() bool { return slices.Contains(l.segments, "") }

// isCounted reports whether the segment is "name@run": of a node of a workflow or
// a tool's run, which runtimes number, and no agent's name.
func isCounted(segment string) bool { return strings.Contains(segment, "@") }

// labelsUnder is the label at an index, and behind it those below it, of a list that
// has each before those below it.
func labelsUnder(all []label, i int) []label {
	end := i + 1
	for end < len(all) && strings.HasPrefix(all[end].text, all[i].text+".") {
		end++
	}
	return all[i:end]
}

// isShown reports whether a reader shows the item to those who may see its branch.
func isShown(s *rules.Subject, i int) bool {
	it := &s.Items[i]
	return it.OnWire() && !it.Flags.Has(session.Blank)
}

// isSpoken reports whether the item is one that an agent added to what is sent: a
// request of that agent came just before it.
func isSpoken(s *rules.Subject, i int) bool {
	it := &s.Items[i]
	return isShown(s, i) && (it.Role == session.Assistant || it.IsAnswer())
}

// gaps collects what agents cannot see of others that were done before they ran,
// from the paths of one run and the order of its events.
//
// adk-python since 1.2 and adk-go write pairs: a parallel agent's name and the child's
// ("fin.g1.abc.a" is fin/g1, abc/a). What lies below one parallel agent ran side by
// side, up to the next event of the level itself or of another parallel agent there:
// a round, as branch.RecomputeLabels takes them. Labels of full paths ("root.par1.a") do not
// tell; there, groups count as one after the other if their events are.
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

// walkLevel looks at labels that have their first segments in common, as many as depth
// says. The label of the level itself, which may be the root, comes first.
func (g *gaps) walkLevel(labels []label, depth int) {
	var own []int
	if len(labels[0].segments) == depth {
		own = labels[0].items
		if g.reducers && depth > 0 {
			g.hideBelow(&labels[0], labels[1:])
		}
		labels = labels[1:]
	}
	next := depth + 1
	if g.paired {
		next++
	}
	var groups []group
	for rest := labels; len(rest) > 0; {
		n := countAlike(rest, next)
		g.walkLevel(rest[:n], next)
		inside := rest[:n]
		if len(inside[0].segments) == depth+1 {
			inside = inside[1:]
		}
		if len(inside) > 0 {
			groups = append(groups, groupOf(inside))
		}
		rest = rest[n:]
	}
	switch {
	case len(groups) < 2:
	case g.paired:
		g.hideInTurn(groups, roundsOf(own, labels, depth))
	default:
		g.hideApart(groups)
	}
}

// countAlike counts the labels that have as many of their segments in common with the first.
func countAlike(labels []label, segments int) int {
	n := 1
	for n < len(labels) && slices.Equal(labels[n].segments[:segments], labels[0].segments[:segments]) {
		n++
	}
	return n
}

func groupOf(labels []label) group {
	made := group{labels: labels, first: math.MaxInt, last: -1}
	for _, l := range labels {
		made.first = min(made.first, l.items[0])
		made.last = max(made.last, l.items[len(l.items)-1])
	}
	return made
}

// hideBelow hides from the last event of a label what was said below it before.
func (g *gaps) hideBelow(own *label, labels []label) {
	first := math.MaxInt
	for _, l := range labels {
		g.hideEvents(l, own.items[len(own.items)-1])
		first = min(first, l.items[0])
	}
	g.noteReader(*own, first)
}

// hideInTurn hides what groups said in one round of their level from the others in later
// rounds.
func (g *gaps) hideInTurn(groups []group, of rounds) {
	lastOther := greatestOfOthers(groups, func(x group) int { return of.roundStart(x.last) })
	firstOther := greatestOfOthers(groups, func(x group) int { return -of.roundEnd(x.first) })
	for n, x := range groups {
		for _, l := range x.labels {
			g.hideEvents(l, lastOther(n))
			g.noteReader(l, -firstOther(n))
		}
	}
}

// rounds are the first items of the rounds of a level, in their order. What the
// level's own agent says is a round, too.
type rounds []int

// roundsOf are the rounds of a level: of its own items, and of labels below it.
func roundsOf(own []int, labels []label, depth int) rounds {
	parallel := map[int]string{} // agent, by item
	for _, i := range own {
		parallel[i] = ""
	}
	for _, l := range labels {
		for _, i := range l.items {
			parallel[i] = l.segments[depth]
		}
	}
	var starts rounds
	running := ""
	for n, i := range slices.Sorted(maps.Keys(parallel)) {
		if n == 0 || parallel[i] != running {
			starts = append(starts, i)
		}
		running = parallel[i]
	}
	return starts
}

// roundStart is the first item of the round that an item is of.
func (r rounds) roundStart(item int) int {
	after, _ := slices.BinarySearch(r, item+1)
	return r[after-1]
}

// roundEnd is the first item behind the round that an item is of.
func (r rounds) roundEnd(item int) int {
	if after, _ := slices.BinarySearch(r, item+1); after < len(r) {
		return r[after]
	}
	return math.MaxInt
}

// hideApart hides what a group said from those of which every event came later.
func (g *gaps) hideApart(groups []group) {
	start, end := -1, math.MaxInt
	for _, x := range groups {
		start, end = max(start, x.first), min(end, x.last)
	}
	for _, x := range groups {
		for _, l := range x.labels {
			if x.last < start {
				g.hideEvents(l, start)
			}
			if end < x.first {
				g.noteReader(l, end)
			}
		}
	}
}

// hideEvents notes the events of a label before an item.
func (g *gaps) hideEvents(l label, before int) {
	for _, i := range l.items {
		if i < before {
			g.hidden[i] = true
		}
	}
}

// noteReader notes that a label's events from an item on could not see something.
func (g *gaps) noteReader(l label, from int) {
	at, _ := slices.BinarySearch(l.items, from)
	if at == len(l.items) {
		return
	}
	if known, met := g.readers[l.text]; !met || l.items[at] < known {
		g.readers[l.text] = l.items[at]
	}
}

// greatestOfOthers gives, for each index, the greatest value of all groups but that one.
func greatestOfOthers(groups []group, value func(group) int) func(n int) int {
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
