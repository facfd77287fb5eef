package request

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// The longest side of an image that Anthropic takes, in pixels, alone and in a
// request with more than manyImages (docs/rules/SC601.md).
const (
	longestSide       = 8000
	longestSideOfMany = 2000
	manyImages        = 20
)

var imageDimensions = rules.Rule{
	ID: "SC601", Name: "image-dimensions", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "an image is larger than the provider accepts", Profiled: true, Wire: true,
	Run: func(p *rules.Pass) {
		for j := range p.Judged() {
			limit, among := longestSide, ""
			if len(images(j.Subject)) > manyImages {
				limit, among = longestSideOfMany, fmt.Sprintf(" for requests with more than %d images", manyImages)
			}
			at := j.Spots(func(_ *session.Item, b *session.Block) bool { return isImage(b) && max(b.Width, b.Height) > limit })
			if len(at) == 0 {
				continue
			}
			f := p.FindBlocks(j, at, rules.Said{N: limit})
			if limit == longestSideOfMany {
				f.ProviderError = j.Profile.Error("SC601 many", rules.Said{Message: j.WireIndex(j.Profile, at[0].Item), Block: at[0].Block, N: limit})
			}
			f.Message = fmt.Sprintf("%s %s larger than %d pixels on a side, the limit of the provider%s",
				rules.Count(len(at), "image"), rules.Verb(len(at), "is", "are"), limit, among)
			f.Sent = "the images scaled down"
			p.Report(f)
		}
	},
}

// images are the places of the images in the next request.
func images(s *rules.Subject) []rules.Spot {
	return s.Spots(func(_ *session.Item, b *session.Block) bool { return isImage(b) })
}

func isImage(b *session.Block) bool { return b.Kind == session.MediaBlock && b.Name == "image" }
