package rules

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
)

var alteredItem = Rule{
	ID: "SC730", Name: "altered-item", Severity: Error, Safety: None, Scope: PerComparison, Since: "0.1.0",
	Title: "a stored item says something else than the events of its run",
	Run: func(p *Pass) {
		for _, run := range p.runs(replay.Altered) {
			for i := range run {
				p.reportAltered(&run[i])
			}
		}
	},
}

// beside are the parts of an item that are not what was said: the store lost no
// history where only these differ.
var beside = []string{"agent", "reasoning", "error mark", "implicit mark", replay.Retried}

func (p *Pass) reportAltered(d *replay.Difference) {
	f := p.find(d.Stored, d.StoredItem)
	f.Call = soleCall(recordedItem(d))
	switch {
	case slices.Equal(d.What, []string{replay.Retried}):
		f.Severity = Info
	case !slices.ContainsFunc(d.What, func(part string) bool { return !slices.Contains(beside, part) }):
		f.Severity = Warning
	}
	f.Message = fmt.Sprintf("the recording has %s, and the stored item differs in %s",
		recordedName(d.Recorded, d.RecordedItem), list(d.What))
	if was := recordedItem(d).Agent; slices.Contains(d.What, "agent") {
		f.Message += fmt.Sprintf(": %s is stored, %s is recorded", agentName(f.Agent), agentName(was))
	}
	if slices.Contains(d.What, replay.Retried) {
		f.Message += "; so it is after a request that failed in the middle and was made again, which leaves no event"
	}
	p.Report(f)
}
