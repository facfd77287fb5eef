package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
)

var foreignItem = Rule{
	ID: "SC729", Name: "foreign-item", Severity: Warning, Safety: None, Scope: PerComparison, Since: "0.1.0",
	Title: "items stand among those of a recorded run that no event made",
	Run: func(p *Pass) {
		for _, run := range p.runs(replay.Foreign) {
			f := p.findRun(run)
			f.Message = fmt.Sprintf("%s among those of the recorded run, and no event made %s: %s",
				verb(len(run), "this item stands", "these items stand"), verb(len(run), "it", "them"),
				itemNames(run, func(d *replay.Difference) string { return itemName(d.Stored, d.StoredItem) }))
			p.Report(f)
		}
	},
}
