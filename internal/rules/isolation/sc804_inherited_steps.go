package isolation

import "github.com/sessctl/sessctl/internal/rules"

var inheritedSteps = rules.Rule{
	ID: "SC804", Name: "inherited-steps", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Bodies: true, Since: "0.1.0",
	Title: "a sub-session contains steps of its parent",
	Run: func(p *rules.Pass) {
		for _, s := range isolated(p) {
			copied := inherited(s)
			if !hasSteps(s.To, copied) {
				continue // SC801
			}
			f := p.Find(s.To.Session, copied[0].Child)
			f.Items, f.Call = nil, s.Call().ID
			for _, pair := range copied {
				f.Items = append(f.Items, pair.Child)
				f.Related = append(f.Related, s.From.At(pair.Parent))
			}
			f.Related = append(f.Related, s.From.At(s.Item))
			f.Message = "the sub-session of call " + rules.CallName(s.Call()) + " contains " + rules.Count(len(copied), "step") + " of session " + rules.Short(s.From.ID)
			f.Then("They are from before the delegation, and the sub-agent did not take them itself")
			p.Report(f)
		}
	},
}
