package rules

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

var positionCollision = Rule{
	ID: "SC011", Name: "position-collision", Severity: Warning, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "positions that are negative or used twice",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			reportPositions(p, s)
		}
	},
}

func reportPositions(p *Pass, s *Subject) {
	var bad []int
	negative, doubled := 0, 0
	for i := range s.Items {
		switch {
		case s.Items[i].Position < 0:
			bad = append(bad, i)
			negative++
		case i > 0 && s.Items[i].Position == s.Items[i-1].Position:
			bad = append(bad, i)
			doubled++
		}
	}
	if len(bad) == 0 {
		return
	}
	f := p.find(s.Session, bad[0])
	f.Items = bad
	var parts []string
	if negative > 0 {
		parts = append(parts, count(negative, "item")+" with a negative position")
	}
	if doubled > 0 {
		parts = append(parts, count(doubled, "item")+" with the position of the item before: their order is undefined; sessctl reads them in row order")
	}
	f.Message = list(parts)
	fix := Fix{Title: "renumber the session's items in the order shown", Safety: Lossless}
	for i := range s.Items {
		if s.Items[i].Position != int64(i) {
			value := strconv.Itoa(i)
			fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: s.ItemRef(i), Field: "position", Value: &value})
		}
	}
	f.Fixes = []Fix{fix}
	p.Report(f)
}
