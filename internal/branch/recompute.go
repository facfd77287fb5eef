package branch

import (
	"maps"
	"slices"
	"strings"
)

// Factory gives out the tokens of one invocation, from 1.
type Factory struct{ last int }

// Reset begins a new invocation.
func (f *Factory) Reset() { f.last = 0 }

// Fork gives each of n parallel children the parent's tokens and a fresh one, in
// the order of the children.
func (f *Factory) Fork(parent Set, n int) []Set {
	children := make([]Set, n)
	for i := range children {
		f.last++
		children[i] = JoinSets(parent, Set{f.last})
	}
	return children
}

// Recomputed are the token labels of a session that stores paths.
type Recomputed struct {
	Labels     []string // of each event, by its index
	Unreadable int      // how many events kept their path, because it is no list of pairs
}

// RecomputeLabels gives the events of one session, in stored order, the token sets that
// Tokens would have had them stored with. An agent's set is that of its own event:
// it changes with every group of parallel agents that it has waited for.
//
// It reads paths as adk-python since 1.2 and adk-go write them: a parallel agent
// adds its own name and the child's, nothing else adds anything. Per invocation
// and level, events below one parallel agent are one group, up to the next event
// of the level itself or of another parallel agent there. So two runs of a parallel
// agent with nothing between them are taken for one.
//
// The order in which children were forked is lost, as events are stored when agents
// finish, and an agent that stored nothing took a token, too. Here the children of
// a group get their tokens by name, a2 before a10, and the groups within it follow,
// child by child. So the numbers are exact up to renaming only; who sees whom is
// exact wherever the groups were told apart.
//
// A path with an odd number of segments, an empty one or one with an "@" (a node
// of a workflow, a tool's run) stays as it is, and Tokens shows it to all. Writers
// that add every agent's name (adk-java, adk-python to 1.1, Spring AI Session) make
// such paths, and others that are pairs by chance: there a sequence is taken for a
// parallel agent, and what comes out is a guess. Labels in another form stay as
// they are.
//
// A set grows by every group that came before it in its invocation, and the labels
// with it.
func RecomputeLabels(events []Event) Recomputed {
	w := walk{labels: make([]string, len(events))}
	unreadable := 0
	runs := make(map[string][]row)
	for i, e := range events {
		segments, ok := pairSegments(e.Label)
		switch {
		case ok:
			runs[e.Invocation] = append(runs[e.Invocation], row{i, segments})
			continue
		case ParseLabel(e.Label).Path != "":
			unreadable++
		}
		w.labels[i] = e.Label
	}
	for _, rows := range runs {
		w.factory.Reset()
		w.labelLevel(rows, 0, nil)
	}
	return Recomputed{w.labels, unreadable}
}

type walk struct {
	factory Factory
	labels  []string
}

type row struct {
	event    int
	segments []string
}

// labelLevel labels the rows on and below a path of depth pairs, where an agent begins
// with a set, and gives back with which it ends.
func (w *walk) labelLevel(rows []row, depth int, set Set) Set {
	for len(rows) > 0 {
		n := 0
		for n < len(rows) && len(rows[n].segments) == 2*depth {
			n++
		}
		if n > 0 {
			label := Label{Tokens: JoinSets(set)}.String()
			for _, r := range rows[:n] {
				w.labels[r.event] = label
			}
		}
		rows = rows[n:]
		n = groupLength(rows, depth)
		set = w.labelGroup(rows[:n], depth, set)
		rows = rows[n:]
	}
	return set
}

// groupLength counts the rows of the parallel agent that the first one is of.
func groupLength(rows []row, depth int) int {
	end := slices.IndexFunc(rows, func(r row) bool {
		return len(r.segments) == 2*depth || r.segments[2*depth] != rows[0].segments[2*depth]
	})
	if end < 0 {
		return len(rows)
	}
	return end
}

// labelGroup forks for a parallel agent's children, labels their rows, and joins.
func (w *walk) labelGroup(rows []row, depth int, parent Set) Set {
	children := make(map[string][]row)
	for _, r := range rows {
		name := r.segments[2*depth+1]
		children[name] = append(children[name], r)
	}
	names := slices.SortedFunc(maps.Keys(children), compareNatural)
	sets := w.factory.Fork(parent, len(names))
	for i, name := range names {
		sets[i] = w.labelLevel(children[name], depth+1, sets[i])
	}
	return JoinSets(append(sets, parent)...)
}

// pairSegments gives the segments of a path that is a list of pairs: parallel agent, child.
func pairSegments(label string) ([]string, bool) {
	if label == "" {
		return nil, true
	}
	segments := strings.Split(ParseLabel(label).Path, ".")
	if len(segments)%2 != 0 {
		return nil, false
	}
	for _, s := range segments {
		if s == "" || strings.Contains(s, "@") {
			return nil, false
		}
	}
	return segments, true
}
