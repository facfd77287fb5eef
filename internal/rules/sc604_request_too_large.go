package rules

import "fmt"

var requestTooLarge = Rule{
	ID: "SC604", Name: "request-too-large", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "the next request is larger than the provider takes", Profiled: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			var size int64
			for _, it := range j.sent() {
				size += it.Size
			}
			if size <= j.Profile.MaxBytes {
				continue
			}
			f := p.findSession(j.Session)
			f.Profile = j.Profile
			f.ProviderError = j.Profile.Error(p.rule.ID, Said{})
			f.Message = fmt.Sprintf("the next request holds about %.1f MB of texts and media, and the provider takes %d MB; compact the conversation",
				float64(size)/(1<<20), j.Profile.MaxBytes>>20)
			p.Report(f)
		}
	},
}
