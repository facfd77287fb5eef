package rules

import "github.com/sessctl/sessctl/internal/session"

var itemIDUnresolvable = Rule{
	ID: "SC508", Name: "item-id-unresolvable", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "ids of a server that was told to store nothing", Profiled: true, Wire: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			if !j.Unstored {
				continue
			}
			at := j.spots(func(_ *session.Item, b *session.Block) bool { return b.ID != "" })
			if len(at) == 0 {
				continue
			}
			f := p.findBlocks(j, at, Said{ID: j.block(at[0]).ID})
			f.Message = count(len(at), "part") + " " + verb(len(at), "carries", "carry") + " an id of the provider's server, which was told to store nothing and cannot look it up"
			f.Sent = "the items without the server's ids"
			p.Report(f)
		}
	},
}
