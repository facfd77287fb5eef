package request

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var imageDimensions = rules.Rule{
	ID: "SC601", Name: "image-dimensions", Severity: rules.Warning, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "an image is larger than the provider accepts", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		limits := j.Profile.Images
		limit, among := limits.Side, ""
		if limits.Many > 0 && len(sentImages(j.Subject)) > limits.Many {
			limit, among = limits.SideOfMany, fmt.Sprintf(" for requests with more than %d images", limits.Many)
		}
		at := j.FindSpots(func(_ *session.Item, b *session.Block) bool { return isImage(b) && max(b.Width, b.Height) > limit })
		p.ReportBlocks(j, at, rules.Said{N: limit}, func(f *rules.Finding) {
			if among != "" {
				f.ProviderError = j.Profile.ErrorText("SC601 many", rules.Said{Message: j.WireIndex(j.Profile, at[0].Item), Block: at[0].Block, N: limit})
			}
			f.Message = fmt.Sprintf("%s %s larger than %d pixels on a side, the limit of the provider%s",
				rules.CountedNoun(len(at), "image"), rules.VerbForm(len(at), "is", "are"), limit, among)
			f.Sent = "the images scaled down"
			f.Fixes = omitBlocks(p, j.Subject, at)
		})
	}),
}

// sentImages are the places of the images in the next request.
func sentImages(s *rules.Subject) []rules.Spot {
	return s.FindSpots(func(_ *session.Item, b *session.Block) bool { return isImage(b) })
}

func isImage(b *session.Block) bool {
	return b.Kind == session.MediaBlock && b.Name == "image" && !b.Unsent
}
