package rules

import (
	"iter"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// inRequest reports whether the item becomes part of the next request.
func (s *Subject) inRequest(item int) bool {
	return !s.history(item) && s.onWire(item)
}

// sent yields the items of the next request.
func (s *Subject) sent() iter.Seq2[int, *session.Item] {
	return func(yield func(int, *session.Item) bool) {
		for i := s.Start; i < len(s.Items); i++ {
			if s.inRequest(i) && !yield(i, &s.Items[i]) {
				return
			}
		}
	}
}

// spot is the place of a block in a session.
type spot struct{ item, block int }

// spots are the places of the blocks in the next request that fit.
func (s *Subject) spots(fits func(*session.Item, *session.Block) bool) []spot {
	var list []spot
	for i, it := range s.sent() {
		for n := range it.Blocks {
			if fits(it, &it.Blocks[n]) {
				list = append(list, spot{i, n})
			}
		}
	}
	return list
}

func (s *Subject) block(at spot) *session.Block { return &s.Items[at.item].Blocks[at.block] }

// findBlocks starts the one finding about blocks of a session, of which there is
// at least one: it stands at the first, and so does what the provider answers.
func (p *Pass) findBlocks(j Judged, at []spot, said Said) Finding {
	items := make([]int, len(at))
	for n := range at {
		items[n] = at[n].item
	}
	said.Block = at[0].block
	f := p.findSent(j, slices.Compact(items), said)
	f.Count = len(at)
	return f
}

// findSent starts the one finding about items of a session, of which there is at
// least one.
func (p *Pass) findSent(j Judged, items []int, said Said) Finding {
	f := p.find(j.Session, items[0])
	f.Items, f.Profile = items, j.Profile
	said.Message = j.wireIndex(j.Profile, items[0])
	f.ProviderError = j.Profile.Error(p.rule.ID, said)
	return f
}

// answersOnly reports whether the item is nothing but results: what is said in
// answer to calls, not by the user.
func answersOnly(it *session.Item) bool {
	return it.Role == session.Tool || it.Role == session.User && len(it.Results) > 0 && it.Text == 0
}

// foreign reports whether a model's signatures mean nothing to the provider. A
// model that no profile knows may be anybody's, so it is not foreign.
func foreign(profile *Profile, model string) bool {
	made := profileOf(model)
	if made == nil || made == profile {
		return false
	}
	return profile.Signers == nil || !profile.Signers.MatchString(strings.ToLower(model))
}
