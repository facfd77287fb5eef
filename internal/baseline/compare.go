package baseline

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
)

// Looked is how far a run looked into a store.
type Looked struct {
	Rules  []*rules.Rule // that were asked
	Deep   bool          // with what is only read with --deep
	Texts  bool          // with the texts of the sessions
	Itself bool          // at what concerns the store as a whole
	Part   bool          // at some sessions only: the roots of the result
	Broken bool          // and not to the end of it
}

// Comparison is a run beside a baseline.
type Comparison struct {
	Known int // findings that stand in the baseline

	stores []*store
	places map[string]*store // by the path of the store of the run
}

// known is an entry, and what the run says of it.
type known struct {
	Entry
	extent check.Extent
	found  bool // as it is, or worse: it stands for no other finding
	looked bool // at where it was
}

// NewComparison begins the comparison of a run over stores with a file.
func NewComparison(file *File, paths []string) *Comparison {
	c := &Comparison{}
	byPath := map[string]*store{}
	named := func(path string) *store {
		s := byPath[path]
		if s == nil {
			s = &store{path: path, byFingerprint: map[string][]*known{}}
			byPath[path] = s
			c.stores = append(c.stores, s)
		}
		return s
	}
	for _, path := range file.Stores {
		named(path)
	}
	for _, e := range file.Findings {
		severity, _ := rules.ParseSeverity(e.Severity)
		s := named(e.Store)
		k := &known{Entry: e, extent: check.Extent{Severity: severity, Items: e.Items}}
		s.entries = append(s.entries, k)
		s.byFingerprint[e.Fingerprint] = append(s.byFingerprint[e.Fingerprint], k)
	}
	c.places = placeStores(c.stores, paths)
	return c
}

// CompareStore compares the findings of a store, and marks those that are known.
func (c *Comparison) CompareStore(r *check.Result, looked Looked) {
	s, named := c.places[slashPath(r.Store.Path)], true
	if s == nil {
		s, named = c.findRenamed(r.Findings), false
	}
	if s == nil {
		return
	}
	s.taken = true
	c.markKnown(r.Findings, s, named)
	if !named || looked.Broken || r.Incomplete != "" {
		return
	}
	saw := newCoverage(looked, r.Roots)
	for _, k := range s.entries {
		k.looked = k.looked || saw.coversEntry(&k.Entry)
	}
}

// markKnown looks the findings of a store up. Each entry stands for one of them. Findings
// of a store itself have the same fingerprints in every store, so that they are known
// by its name only.
func (c *Comparison) markKnown(findings []*check.Finding, s *store, named bool) {
	var others []*check.Finding
	for _, f := range findings {
		if !named && f.Session == "" {
			continue
		}
		if k := s.coveringEntry(f); k != nil {
			k.found, f.Known = true, true
			c.Known++
		} else {
			others = append(others, f)
		}
	}
	for _, f := range others {
		if k := s.openEntry(f); k != nil {
			k.found, f.Was = true, &k.extent
		}
	}
}

// CountGone counts the entries whose finding is no longer there, where the run looked.
func (c *Comparison) CountGone() int {
	return c.countEntries(func(k *known) bool { return k.looked && !k.found })
}

// CountOpen counts the entries of which the run cannot say whether they are gone.
func (c *Comparison) CountOpen() int {
	return c.countEntries(func(k *known) bool { return !k.looked && !k.found })
}

func (c *Comparison) countEntries(is func(*known) bool) int {
	n := 0
	for _, s := range c.stores {
		for _, k := range s.entries {
			if is(k) {
				n++
			}
		}
	}
	return n
}

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

func (s *coverage) coversEntry(e *Entry) bool {
	switch {
	case !s.rules[e.Rule]:
		return false
	case e.Root == "":
		return s.Itself
	}
	return !s.Part || s.roots[e.Root]
}

// store is a store of a baseline.
type store struct {
	path          string
	entries       []*known
	byFingerprint map[string][]*known
	taken         bool // by a store of the run
}

// coveringEntry is an entry that stands for no finding yet and is no less bad than this
// one: of several the one that is next to it. nil for none.
func (s *store) coveringEntry(f *check.Finding) (best *known) {
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

// openEntry is an entry with the fingerprint of a finding that stands for no finding yet,
// nil for none.
func (s *store) openEntry(f *check.Finding) *known {
	for _, k := range s.byFingerprint[f.Fingerprint] {
		if !k.found {
			return k
		}
	}
	return nil
}

// placeStores gives each store of a baseline to one store of the run, and each of those gets
// one: its own path, else the longest common end, and at least the name of the file.
// Machines keep a project in different folders, and a project may have several stores
// of one name. The result is by path.
func placeStores(stores []*store, paths []string) map[string]*store {
	type pair struct {
		store  *store
		path   string
		common int // parts at the end
	}
	var pairs []pair
	for _, s := range stores {
		for _, p := range paths {
			if n := commonEnd(s.path, slashPath(p)); n > 0 {
				pairs = append(pairs, pair{s, slashPath(p), n})
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

// findRenamed finds the store of the baseline that a store with these findings was: that of
// no other store of the run that knows most of them, nil where none knows any.
func (c *Comparison) findRenamed(findings []*check.Finding) (was *store) {
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

// slashPath is a path as a baseline has it on every system.
func slashPath(p string) string { return path.Clean(filepath.ToSlash(p)) }

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
