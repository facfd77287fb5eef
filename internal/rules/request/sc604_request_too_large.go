package request

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
)

var requestTooLarge = rules.Rule{
	ID: "SC604", Name: "request-too-large", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "the next request is larger than the provider accepts", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		var size int64
		for _, it := range j.SentItems() {
			size += it.Size
		}
		if size <= j.Profile.MaxBytes {
			return
		}
		f := p.FindSession(j.Session)
		f.Profile = j.Profile
		f.ProviderError = j.Profile.ErrorText(p.Rule.ID, rules.Said{})
		f.Message = fmt.Sprintf("the next request contains about %.1f MB, but the provider accepts %d MB. Compact the conversation.",
			float64(size)/(1<<20), j.Profile.MaxBytes>>20)
		p.Report(f)
	}),
}
