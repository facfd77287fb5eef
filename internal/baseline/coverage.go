package baseline

import "github.com/sessctl/sessctl/internal/check"

// coverage tells which findings a run would have found in a store.
type coverage struct {
	Looked
	rules map[string]bool // by id: those that were asked with all that they need
	roots map[string]bool
}

func newCoverage(looked Looked, roots []*check.Head) *coverage {
	s := &coverage{Looked: looked, rules: map[string]bool{}, roots: map[string]bool{}}
	for _, r := range looked.Rules {
		s.rules[r.ID] = (looked.Deep || !r.Deep) && (looked.Texts || !r.Bodies)
	}
	for _, root := range roots {
		s.roots[root.ID] = true
	}
	return s
}

func (s *coverage) place(e *Entry) bool {
	switch {
	case !s.rules[e.Rule]:
		return false
	case e.Root == "":
		return s.Itself
	}
	return !s.Part || s.roots[e.Root]
}
