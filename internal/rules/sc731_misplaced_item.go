package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
)

var misplacedItem = Rule{
	ID: "SC731", Name: "misplaced-item", Severity: Error, Safety: None, Scope: PerComparison, Since: "0.1.0",
	Title: "items stand at another place than the events of their run put them",
	Run: func(p *Pass) {
		for _, run := range p.runs(replay.Misplaced) {
			f := p.findRun(run)
			f.Message = fmt.Sprintf("%s at another place than in the recording, where %s %s: %s",
				verb(len(run), "this item stands", "these items stand"), verb(len(run), "it comes", "they come"),
				recordedPlace(&run[0]),
				itemNames(run, func(d *replay.Difference) string { return recordedName(d.Recorded, d.RecordedItem) }))
			p.Report(f)
		}
	},
}

// recordedPlace says where the recording has the item.
func recordedPlace(d *replay.Difference) string {
	place := "first"
	if d.RecordedItem > 0 {
		place = "behind " + recordedName(d.Recorded, d.RecordedItem-1)
	}
	if d.Recorded.ID != d.Stored.ID {
		place += " in session " + Short(d.Recorded.ID)
	}
	return place
}
