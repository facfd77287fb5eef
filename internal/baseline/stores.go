package baseline

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
)

// store is a store of a baseline.
type store struct {
	path          string
	entries       []*known
	byFingerprint map[string][]*known
	taken         bool // by a store of the run
}

// covering is an entry that stands for no finding yet and is no less bad than this
// one: of several the one that is next to it. nil for none.
func (s *store) covering(f *check.Finding) (best *known) {
	for _, k := range s.byFingerprint[f.Fingerprint] {
		if k.found || !k.extent.Covers(f.Extent()) {
			continue
		}
		if best == nil || best.extent.Covers(k.extent) {
			best = k
		}
	}
	return best
}

// open is an entry with the fingerprint of a finding that stands for no finding yet,
// nil for none.
func (s *store) open(f *check.Finding) *known {
	for _, k := range s.byFingerprint[f.Fingerprint] {
		if !k.found {
			return k
		}
	}
	return nil
}

// place gives each store of a baseline to one store of the run, and each of those gets
// one: its own path, else the longest common end, and at least the name of the file.
// Machines keep a project in different folders, and a project may have several stores
// of one name. The result is by path.
func place(stores []*store, paths []string) map[string]*store {
	type pair struct {
		store  *store
		path   string
		common int // parts at the end
	}
	var pairs []pair
	for _, s := range stores {
		for _, p := range paths {
			if n := commonEnd(s.path, slashed(p)); n > 0 {
				pairs = append(pairs, pair{s, slashed(p), n})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.common, a.common) })
	places := map[string]*store{}
	for _, p := range pairs {
		if !p.store.taken && places[p.path] == nil {
			p.store.taken, places[p.path] = true, p.store
		}
	}
	return places
}

// renamed is the store of the baseline that a store with these findings was: that of
// no other store of the run that knows most of them, nil where none knows any.
func (c *Comparison) renamed(findings []*check.Finding) (was *store) {
	most := 0
	for _, s := range c.stores {
		if s.taken {
			continue
		}
		n := 0
		for _, f := range findings {
			if f.Session != "" && len(s.byFingerprint[f.Fingerprint]) > 0 {
				n++
			}
		}
		if n > most {
			was, most = s, n
		}
	}
	return was
}

// slashed is a path as a baseline has it on every system.
func slashed(p string) string { return path.Clean(filepath.ToSlash(p)) }

// commonEnd counts the parts in which two paths end alike, and more than any other
// path has in common for paths that are equal.
func commonEnd(a, b string) int {
	first, second := strings.Split(path.Clean(a), "/"), strings.Split(path.Clean(b), "/")
	n := 0
	for n < len(first) && n < len(second) && first[len(first)-1-n] == second[len(second)-1-n] {
		n++
	}
	if n == len(first) && n == len(second) {
		n++
	}
	return n
}
