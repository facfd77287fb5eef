package request

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// lossy is the word of --allow for repairs with which the model sees less.
const lossy = "lossy"

// omitBlocks is the fix that leaves blocks out of requests: a note says what media there were, and a
// message that was nothing but reasoning and blank texts goes. Nothing where the store cannot.
func omitBlocks(p *rules.Pass, s *rules.Subject, at []rules.Spot) []rules.Fix {
	if !p.Store.Omits {
		return nil
	}
	left, media := map[int]int{}, 0
	blank := func(b session.Block) bool { return b.Kind == session.TextBlock && b.Blank }
	for _, spot := range at {
		left[spot.Item]++
		if s.BlockAt(spot).Kind == session.MediaBlock {
			media++
		}
	}
	fix := rules.Fix{Safety: rules.Kept, Allow: []string{lossy}}
	for _, spot := range at {
		ref := s.ItemRef(spot.Item)
		if all := slices.DeleteFunc(slices.Clone(s.Items[spot.Item].Blocks), blank); left[spot.Item] < len(all) || s.BlockAt(spot).Kind == session.MediaBlock {
			ref.Pointer = fmt.Sprintf("/blocks/%d", spot.Block)
			fix.Edits = append(fix.Edits, session.Edit{Op: session.Omit, Ref: ref})
		} else if left[spot.Item] > 0 {
			fix.Edits = append(fix.Edits, session.Edit{Op: session.Quarantine, Ref: ref})
			left[spot.Item] = 0
		}
	}
	fix.Title = "leave " + rules.CountedNoun(len(at), "block") + " of reasoning out; the receipt keeps " + rules.VerbForm(len(at), "it", "them")
	if media > 0 {
		fix.Title = "put a note in place of " + rules.CountedNoun(media, "attachment") + "; the receipt keeps " + rules.VerbForm(media, "it", "them")
	}
	return []rules.Fix{fix}
}
