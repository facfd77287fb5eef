package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
)

// mostCacheMarks is how many marks for the prompt cache Anthropic takes in a
// request (provider-rules.md ANT-24).
const mostCacheMarks = 4

var cacheMarks = Rule{
	ID: "SC605", Name: "cache-marks", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "more marks for the prompt cache than the provider takes", Profiled: true, Wire: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			at := j.spots(func(_ *session.Item, b *session.Block) bool { return b.Cached })
			if len(at) <= mostCacheMarks {
				continue
			}
			f := p.findBlocks(j, at[:len(at)-mostCacheMarks], Said{N: len(at)})
			f.Message = fmt.Sprintf("the next request holds %d marks for the prompt cache, and the provider takes %d", len(at), mostCacheMarks)
			f.Sent = fmt.Sprintf("the last %d marks only", mostCacheMarks)
			p.Report(f)
		}
	},
}
