package rules

import "github.com/sessctl/sessctl/internal/session"

var thinkingForeign = Rule{
	ID: "SC504", Name: "thinking-foreign", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "thinking or a call that another provider's model signed", Profiled: true, Wire: true,
	Run: func(p *Pass) {
		for j := range p.judged() {
			at := j.spots(func(it *session.Item, b *session.Block) bool {
				return b.Signature != 0 && j.Profile.readsSignature(b.Kind) && foreign(j.Profile, it.Model)
			})
			if len(at) == 0 {
				continue
			}
			f := p.findBlocks(j, at, Said{})
			f.Message = count(len(at), "signature") + " " + verb(len(at), "is", "are") + " of a model of another provider (" +
				quoted(j.Items[at[0].item].Model) + "), which this one cannot verify"
			f.Sent = "the turns without the foreign thinking"
			if j.Profile.Sentinel != "" {
				f.Sent = "the sentinel " + j.Profile.Sentinel + " in place of the foreign signature"
			}
			p.Report(f)
		}
	},
}

// readsSignature reports whether the API has signatures on blocks of this kind.
func (p *Profile) readsSignature(kind session.BlockKind) bool {
	return kind == session.ReasoningBlock || kind == session.CallBlock && p.Sentinel != ""
}
