package branch

import (
	"maps"
	"slices"
)

// Forks is the rule of the later, structural revision of adk-python pull request
// 3889: a branch holds the indices it is of in every fork that is not joined yet,
// and an event is hidden only if some fork is in both with no index in common. A
// fork that the viewer does not have is history to it. Nothing is known of
// invocations in this revision, so they make no difference.
type Forks struct{}

// Visible reports ForkDisjoint for what is hidden. Root stands for every event
// without forks, Unbranched for every viewer without; Child and Unrelated are
// visible: of forks that the viewer does not have.
func (f Forks) Visible(viewer Viewer, event Event) (bool, Reason) {
	return judge(viewer, event, f.sees)
}

func (Forks) sees(viewer Viewer, event Event) (bool, Reason) {
	v, e := Parse(viewer.Label), Parse(event.Label)
	switch {
	case event.Label == viewer.Label && !e.Root():
		return true, Own
	case len(e.Forks) == 0:
		return true, Root
	case len(v.Forks) == 0:
		return true, Unbranched
	case maps.EqualFunc(v.Forks, e.Forks, sameIndices):
		return true, Own
	}
	shared := 0
	for id, its := range e.Forks {
		if mine, both := v.Forks[id]; both {
			if !mine.Indices.Meets(its.Indices) {
				return false, ForkDisjoint
			}
			shared++
		}
	}
	switch shared {
	case len(e.Forks):
		return true, Ancestor
	case len(v.Forks):
		return true, Child
	}
	return true, Unrelated
}

func sameIndices(a, b Fork) bool { return slices.Equal(a.Indices, b.Indices) }
