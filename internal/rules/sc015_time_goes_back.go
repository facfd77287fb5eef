package rules

import (
	"fmt"
	"time"
)

var timeGoesBack = Rule{
	ID: "SC015", Name: "time-goes-back", Severity: Info, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "times decrease within a session",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			var before time.Time
			var bad []int
			for i := range s.Items {
				t := s.Items[i].Time
				if t.IsZero() {
					continue
				}
				if t.Before(before) {
					bad = append(bad, i)
				}
				before = t
			}
			if len(bad) == 0 {
				continue
			}
			f := p.find(s.Session, bad[0])
			f.Items = bad
			f.Message = fmt.Sprintf("%s older than the item before it: evidence for a second writer, a changed clock or moved records",
				count(len(bad), "item"))
			p.Report(f)
		}
	},
}
