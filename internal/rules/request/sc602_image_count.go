package request

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
)

// mostImages is how many images Anthropic takes in a request
// (docs/rules/SC602.md).
const mostImages = 100

var imageCount = rules.Rule{
	ID: "SC602", Name: "image-count", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "more images than the provider accepts in a request", Profiled: true, Wire: true,
	Run: func(p *rules.Pass) {
		for j := range p.Judged() {
			at := images(j.Subject)
			surplus := len(at) - mostImages
			if surplus <= 0 {
				continue
			}
			f := p.FindBlocks(j, at[:surplus], rules.Said{N: len(at)})
			f.Message = fmt.Sprintf("the next request contains %d images, but the provider accepts %d", len(at), mostImages)
			f.Sent = "a note in place of the oldest " + rules.Count(surplus, "image")
			p.Report(f)
		}
	},
}
