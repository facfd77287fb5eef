package rules

import "github.com/sessctl/sessctl/internal/session"

var thinkingUnsigned = Rule{
	ID: "SC502", Name: "thinking-unsigned", Severity: Error, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "thinking without the signature that its provider wants back", Profiled: true, Wire: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			at := j.spots(func(_ *session.Item, b *session.Block) bool { return b.Kind == session.ReasoningBlock && b.Unsigned })
			if len(at) == 0 {
				continue
			}
			f := p.findBlocks(j, at, Said{})
			f.Message = count(len(at), "block") + " of thinking " + verb(len(at), "has", "have") + " no signature, and the provider takes none back without"
			f.Sent = "the turns without the unsigned thinking"
			p.Report(f)
		}
	},
}
