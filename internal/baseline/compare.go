package baseline

import (
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

	byFingerprint map[string][]*known
	byStore       map[string][]*known
}

// known is an entry, and what the run says of it.
type known struct {
	Entry
	extent check.Extent
	found  bool // as it is, or worse
	looked bool // at where it was
}

// NewComparison begins the comparison of a run with a file.
func NewComparison(file *File) *Comparison {
	c := &Comparison{byFingerprint: map[string][]*known{}, byStore: map[string][]*known{}}
	for _, e := range file.Findings {
		s, _ := severity(e.Severity)
		k := &known{Entry: e, extent: check.Extent{Severity: s, Items: e.Items}}
		c.byFingerprint[e.Fingerprint] = append(c.byFingerprint[e.Fingerprint], k)
		c.byStore[e.Store] = append(c.byStore[e.Store], k)
	}
	return c
}

// Take compares the findings of a store, and marks those that are known.
func (c *Comparison) Take(r *check.Result, looked Looked) {
	for _, f := range r.Findings {
		c.mark(f, r.Store.Path)
	}
	if looked.Broken || r.Incomplete != "" {
		return
	}
	saw := newSight(looked, r.Roots)
	var stores []string
	for store := range c.byStore {
		stores = append(stores, store)
	}
	for _, store := range closest(stores, r.Store.Path, 1, func(store string) string { return store }) {
		for _, k := range c.byStore[store] {
			k.looked = k.looked || saw.place(&k.Entry)
		}
	}
}

// mark looks a finding up. Sessions are known wherever their store lies now. A
// finding of a store itself has the same fingerprint in every store, so the store
// has to have the same name.
func (c *Comparison) mark(f *check.Finding, store string) {
	least := 0
	if f.Session == "" {
		least = 1
	}
	entries := closest(c.byFingerprint[f.Fingerprint], store, least, func(k *known) string { return k.Store })
	for _, k := range entries {
		k.found = true
	}
	switch {
	case slices.ContainsFunc(entries, func(k *known) bool { return k.extent.Covers(f.Extent()) }):
		f.Known = true
		c.Known++
	case len(entries) > 0:
		f.Was = &entries[0].extent
	}
}

// Gone counts the entries whose finding is no longer there, where the run looked.
func (c *Comparison) Gone() int {
	return c.count(func(k *known) bool { return k.looked && !k.found })
}

// Open counts the entries of which the run cannot say whether they are gone.
func (c *Comparison) Open() int {
	return c.count(func(k *known) bool { return !k.looked && !k.found })
}

func (c *Comparison) count(is func(*known) bool) int {
	n := 0
	for _, entries := range c.byStore {
		for _, k := range entries {
			if is(k) {
				n++
			}
		}
	}
	return n
}

// sight tells which findings a run would have found in a store.
type sight struct {
	Looked
	rules map[string]bool // by id: those that were asked with all that they need
	roots map[string]bool
}

func newSight(looked Looked, roots []*check.Head) *sight {
	s := &sight{Looked: looked, rules: map[string]bool{}, roots: map[string]bool{}}
	for _, r := range looked.Rules {
		s.rules[r.ID] = (looked.Deep || !r.Deep) && (looked.Texts || !r.Bodies)
	}
	for _, root := range roots {
		s.roots[root.ID] = true
	}
	return s
}

func (s *sight) place(e *Entry) bool {
	switch {
	case !s.rules[e.Rule]:
		return false
	case e.Root == "":
		return s.Itself
	}
	return !s.Part || s.roots[e.Root]
}

// closest are those whose path has most of its last parts in common with that of a
// store, and at least some: machines keep a project in different folders, and a
// project may have several stores of one name.
func closest[T any](all []T, store string, least int, pathOf func(T) string) []T {
	var found []T
	for _, one := range all {
		n := commonEnd(pathOf(one), filepath.ToSlash(store))
		if n > least {
			found, least = nil, n
		}
		if n == least {
			found = append(found, one)
		}
	}
	return found
}

// commonEnd counts the parts in which two paths end alike, and one more for paths
// that are equal.
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
