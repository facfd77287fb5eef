package request

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var mediaUnreadable = rules.Rule{
	ID: "SC607", Name: "media-unreadable", Severity: rules.Error, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "an image that the provider cannot read: its type, its base64, or its label", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		at := j.FindSpots(func(_ *session.Item, b *session.Block) bool {
			wrong, _ := unreadableMedia(j.Profile, b)
			return wrong != ""
		})
		if len(at) == 0 {
			return
		}
		b := j.BlockAt(at[0])
		wrong, says := unreadableMedia(j.Profile, b)
		f := p.FindBlocks(j, at, rules.Said{Name: b.Media})
		said := rules.Said{Name: b.Media, Message: j.WireIndex(j.Profile, at[0].Item), Block: at[0].Block}
		f.ProviderError = cmp.Or(j.Profile.ErrorText("SC607 "+wrong, said), f.ProviderError)
		f.Message = "the provider cannot read " + rules.CountedNoun(len(at), "attachment") + ": the first " + says
		f.Discreet = rules.WithoutValues(f.Message)
		f.Fixes = omitBlocks(p, j.Subject, at)
		p.Report(f)
	}),
}

// marked are the types whose files begin with bytes of their own.
var marked = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}

// unreadableMedia says what of media in the message itself an API cannot read, as a word of its
// errors and for people; "" for nothing.
func unreadableMedia(by *rules.Profile, b *session.Block) (wrong, says string) {
	switch {
	case b.Kind != session.MediaBlock || b.Unsent || b.Media == "" && b.Bytes == 0:
	case b.Name == "image" && !slices.Contains(by.Images.Types, b.Media):
		return "type", "is of the type " + rules.QuoteText(b.Media) + ", which the provider does not take"
	case b.Broken:
		return "data", "is not base64 of the standard alphabet, with padding"
	case !slices.Contains(marked, b.Media) || b.Is == b.Media:
	case b.Is != "":
		return "label", "is labelled " + rules.QuoteText(b.Media) + " and begins as " + rules.QuoteText(b.Is)
	default:
		return "label", "is labelled " + rules.QuoteText(b.Media) + " and does not begin as one"
	}
	return "", ""
}
