package recorded

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

var misplacedItem = rules.Rule{
	ID: "SC731", Name: "misplaced-item", Severity: rules.Error, Safety: rules.None, Scope: rules.PerComparison, Since: "0.1.0",
	Title: "items are stored at another place than in the recording",
	Run: func(p *rules.Pass) {
		for _, run := range p.DifferenceRuns(replay.Misplaced) {
			f := p.FindRun(run)
			f.Message = fmt.Sprintf("%s at another place than in the recording: %s", rules.VerbForm(len(run), "this item is", "these items are"),
				rules.ItemNames(run, func(d *replay.Difference) string { return rules.RecordedName(d.Recorded, d.RecordedItem) }))
			f.AddSentence(rules.VerbForm(len(run), "It comes ", "They come ") + recordedPlace(&run[0]) + " in the recording")
			p.Report(f)
		}
	},
}

// recordedPlace says where the recording has the item.
func recordedPlace(d *replay.Difference) string {
	place := "first"
	if d.RecordedItem > 0 {
		place = "after " + rules.RecordedName(d.Recorded, d.RecordedItem-1)
	}
	if d.Recorded.ID != d.Stored.ID {
		place += " in session " + rules.ShortID(d.Recorded.ID)
	}
	return place
}
