package store

import (
	"cmp"
	"math"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// Glimpse is what the bytes of some records tell, of which none is decoded.
type Glimpse struct {
	has    uint64 // the words that some of them have: what Options.Lacks leaves
	Newest int64  // of the newest record
}

// Look looks into a record; at is greater of a newer one.
func (g *Glimpse) Look(lacks func([]byte) uint64, at int64, texts ...[]byte) {
	g.Newest = max(g.Newest, at)
	for _, text := range texts {
		if g.has != math.MaxUint64 {
			g.has |= ^lacks(text)
		}
	}
}

// HasAll reports whether no word is lacking.
func (g Glimpse) HasAll() bool { return g.has == math.MaxUint64 }

// NewestTrees are the trees that lack no word, the newest first.
func NewestTrees(trees []*session.Tree, of func(s *session.Session) Glimpse) (list []*session.Tree) {
	all := map[*session.Tree]Glimpse{}
	for _, tree := range trees {
		var whole Glimpse
		for _, s := range tree.Sessions {
			g := of(s)
			whole = Glimpse{whole.has | g.has, max(whole.Newest, g.Newest)}
		}
		if all[tree] = whole; whole.HasAll() {
			list = append(list, tree)
		}
	}
	slices.SortStableFunc(list, func(a, b *session.Tree) int { return cmp.Compare(all[b].Newest, all[a].Newest) })
	return list
}
