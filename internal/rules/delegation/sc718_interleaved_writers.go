package delegation

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
)

var interleavedWriters = rules.Rule{
	ID: "SC718", Name: "interleaved-writers", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "two writers wrote one session at the same time",
	Run: func(p *rules.Pass) {
		told := sharedChildren(p)
		for _, s := range p.Subjects {
			turns := s.InterleavedTurns()
			if told[s] || turns == nil {
				continue
			}
			f := p.FindItem(s.Session, turns[0].Item)
			f.Items = nil
			for _, t := range turns {
				f.Items = append(f.Items, t.Item)
			}
			f.Message = "two runs wrote this session at the same time"
			f.AddSentence(fmt.Sprintf("%s continue one run after a message of the other", rules.CountedNoun(len(turns), "message")))
			p.Report(f)
		}
	},
}

// sharedChildren are the sessions in which several writers are what SC707 and SC727
// tell of.
func sharedChildren(p *rules.Pass) map[*rules.Subject]bool {
	told, called := map[*rules.Subject]bool{}, map[*rules.Subject]bool{}
	for _, sp := range sharingCalls(p) {
		told[sp.To], called[sp.To] = told[sp.To] || called[sp.To], true
	}
	for _, s := range p.Subjects {
		told[s] = told[s] || s.Delegated || len(s.Runs) > 1
	}
	return told
}
