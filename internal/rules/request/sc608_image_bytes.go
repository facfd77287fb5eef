package request

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var imageBytes = rules.Rule{
	ID: "SC608", Name: "image-bytes", Severity: rules.Error, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "an image is longer in base64 than the provider accepts", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		longest, limits := int64(0), j.Profile.Images
		at := j.FindSpots(func(_ *session.Item, b *session.Block) bool {
			if !isImage(b) || b.Bytes <= limits.Bytes {
				return false
			}
			longest = max(longest, b.Bytes)
			return true
		})
		if len(at) == 0 {
			return
		}
		f := p.FindBlocks(j, at, rules.Said{N: int(j.BlockAt(at[0]).Bytes)})
		f.Message = fmt.Sprintf("%s %s longer than %d MB in base64, the limit of the provider; the longest has %.1f MB",
			rules.CountedNoun(len(at), "image"), rules.VerbForm(len(at), "is", "are"), limits.Bytes>>20, float64(longest)/(1<<20))
		if longest <= limits.Most {
			f.Severity = rules.Warning
			f.AddSentence(fmt.Sprintf("Some models and places accept up to %d MB", limits.Most>>20))
		}
		f.Fixes = omitBlocks(p, j.Subject, at)
		p.Report(f)
	}),
}
