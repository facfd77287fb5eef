package rules

import (
	"iter"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// InRequest reports whether the item becomes part of the next request.
func (s *Subject) InRequest(item int) bool {
	return !s.History(item) && s.OnWire(item)
}

// Sent yields the items of the next request.
func (s *Subject) Sent() iter.Seq2[int, *session.Item] {
	return func(yield func(int, *session.Item) bool) {
		for i := s.Start; i < len(s.Items); i++ {
			if s.InRequest(i) && !yield(i, &s.Items[i]) {
				return
			}
		}
	}
}

// Spot is the place of a block in a session.
type Spot struct{ Item, Block int }

// Spots are the places of the blocks in the next request that fit.
func (s *Subject) Spots(fits func(*session.Item, *session.Block) bool) []Spot {
	var list []Spot
	for i, it := range s.Sent() {
		for n := range it.Blocks {
			if fits(it, &it.Blocks[n]) {
				list = append(list, Spot{i, n})
			}
		}
	}
	return list
}

// Block is the part of an item.
func (s *Subject) Block(at Spot) *session.Block { return &s.Items[at.Item].Blocks[at.Block] }

// FindBlocks starts the one finding about blocks of a session, of which there is
// at least one: it stands at the first, and so does what the provider answers.
func (p *Pass) FindBlocks(j Judged, at []Spot, said Said) Finding {
	items := make([]int, len(at))
	for n := range at {
		items[n] = at[n].Item
	}
	said.Block = at[0].Block
	f := p.FindSent(j, slices.Compact(items), said)
	f.Count = len(at)
	return f
}

// FindSent starts the one finding about items of a session, of which there is at
// least one.
func (p *Pass) FindSent(j Judged, items []int, said Said) Finding {
	f := p.Find(j.Session, items[0])
	f.Items, f.Profile = items, j.Profile
	said.Message = j.WireIndex(j.Profile, items[0])
	f.ProviderError = j.Profile.Error(p.Rule.ID, said)
	return f
}

// AnswersOnly reports whether the item is nothing but results: what is said in
// answer to calls, not by the user.
func AnswersOnly(it *session.Item) bool {
	return it.Role == session.Tool || it.Role == session.User && len(it.Results) > 0 && it.Text == 0
}

// Foreign reports whether a model's signatures mean nothing to the provider. A
// model that no profile knows may be anybody's, so it is not foreign.
func Foreign(profile *Profile, model string) bool {
	made := profileOf(model)
	if made == nil || made == profile {
		return false
	}
	return profile.Signers == nil || !profile.Signers.MatchString(strings.ToLower(model))
}
