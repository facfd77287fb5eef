package rules

var inheritedSteps = Rule{
	ID: "SC804", Name: "inherited-steps", Severity: Warning, Safety: None, Scope: PerTree, Bodies: true, Since: "0.1.0",
	Title: "steps of the parent stand in a sub-session that did not make them",
	Run: func(p *Pass) {
		for _, s := range p.isolated() {
			copied := p.inherited(s)
			if !s.child.hasSteps(copied) {
				continue // SC801
			}
			f := p.find(s.child.Session, copied[0].child)
			f.Items, f.Call = nil, s.Call().ID
			for _, pair := range copied {
				f.Items = append(f.Items, pair.child)
				f.Related = append(f.Related, s.parent.At(pair.parent))
			}
			f.Related = append(f.Related, s.parent.At(s.Item))
			f.Message = "the sub-session of call " + callName(s.Call()) + " holds " + count(len(copied), "item") + " with steps of session " +
				Short(s.parent.ID) + " from before the delegation, which it did not take itself"
			p.Report(f)
		}
	},
}
