package recorded

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

var foreignItem = rules.Rule{
	ID: "SC729", Name: "foreign-item", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerComparison, Since: "0.1.0",
	Title: "stored items that no event of the recorded run made",
	Run: func(p *rules.Pass) {
		for _, run := range p.DifferenceRuns(replay.Foreign) {
			f := p.FindRun(run)
			f.Message = fmt.Sprintf("no event of the recording made %s: %s", rules.VerbForm(len(run), "this item", "these items"),
				rules.ItemNames(run, func(d *replay.Difference) string { return rules.ItemName(d.Stored, d.StoredItem) }))
			p.Report(f)
		}
	},
}
