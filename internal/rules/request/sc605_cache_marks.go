package request

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// mostCacheMarks is how many marks for the prompt cache Anthropic takes in a
// request (docs/rules/SC605.md).
const mostCacheMarks = 4

var cacheMarks = rules.Rule{
	ID: "SC605", Name: "cache-marks", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "more prompt cache marks than the provider accepts", Profiled: true, Wire: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		at := j.FindSpots(func(_ *session.Item, b *session.Block) bool { return b.Cached })
		p.ReportBlocks(j, at[:max(len(at)-mostCacheMarks, 0)], rules.Said{N: len(at)}, func(f *rules.Finding) {
			f.Message = fmt.Sprintf("the next request contains %d prompt cache marks, but the provider accepts %d", len(at), mostCacheMarks)
			f.Sent = fmt.Sprintf("only the last %d marks", mostCacheMarks)
		})
	}),
}
