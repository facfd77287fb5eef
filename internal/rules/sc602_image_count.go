package rules

import "fmt"

// mostImages is how many images Anthropic takes in a request (provider-rules.md
// ANT-23).
const mostImages = 100

var imageCount = Rule{
	ID: "SC602", Name: "image-count", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "more images than the provider takes in a request", Profiled: true, Wire: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			at := j.images()
			surplus := len(at) - mostImages
			if surplus <= 0 {
				continue
			}
			f := p.findBlocks(j, at[:surplus], Said{N: len(at)})
			f.Message = fmt.Sprintf("the next request holds %d images, and the provider takes %d", len(at), mostImages)
			f.Sent = "a note in place of the oldest " + count(surplus, "image")
			p.Report(f)
		}
	},
}
