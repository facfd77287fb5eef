package rules

import (
	"fmt"
)

var interleavedWriters = Rule{
	ID: "SC718", Name: "interleaved-writers", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "two writers wrote one session at the same time",
	Run: func(p *Pass) {
		told := p.sharedChildren()
		for _, s := range p.Subjects {
			turns := s.interleaved()
			if told[s] || turns == nil {
				continue
			}
			f := p.find(s.Session, turns[0].item)
			f.Items = nil
			for _, t := range turns {
				f.Items = append(f.Items, t.item)
			}
			f.Message = fmt.Sprintf("%s here go on with what stood before another writer's: two runs wrote the session at the same time",
				count(len(turns), "message"))
			p.Report(f)
		}
	},
}

// sharedChildren are the sessions in which several writers are what SC707 and SC727
// tell of.
func (p *Pass) sharedChildren() map[*Subject]bool {
	told, called := map[*Subject]bool{}, map[*Subject]bool{}
	for _, sp := range p.callers() {
		told[sp.child], called[sp.child] = told[sp.child] || called[sp.child], true
	}
	for _, s := range p.Subjects {
		told[s] = told[s] || s.Delegated || len(s.Runs) > 1
	}
	return told
}
