package request

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
)

var imageCount = rules.Rule{
	ID: "SC602", Name: "image-count", Severity: rules.Warning, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "more images than the provider accepts in a request", Profiled: true,
	Run: func(p *rules.Pass) {
		for j := range p.Judged() {
			at := images(j.Subject)
			surplus := len(at) - j.Profile.Images.Count
			if surplus <= 0 {
				continue
			}
			f := p.FindBlocks(j, at[:surplus], rules.Said{N: len(at)})
			f.Message = fmt.Sprintf("the next request contains %d images, but the provider accepts %d", len(at), j.Profile.Images.Count)
			f.Sent = "a note in place of the oldest " + rules.Count(surplus, "image")
			f.Fixes = omitBlocks(p, j.Subject, at[:surplus])
			p.Report(f)
		}
	},
}
