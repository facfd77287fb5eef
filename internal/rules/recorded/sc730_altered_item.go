package recorded

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

var alteredItem = rules.Rule{
	ID: "SC730", Name: "altered-item", Severity: rules.Error, Safety: rules.None, Scope: rules.PerComparison, Since: "0.1.0",
	Title: "a stored item differs from the recorded events of its run",
	Run: func(p *rules.Pass) {
		for _, run := range p.DifferenceRuns(replay.Altered) {
			for i := range run {
				reportAltered(p, &run[i])
			}
		}
	},
}

// beside are the parts of an item that are not what was said: the store lost no
// history where only these differ.
var beside = []string{"agent", "reasoning", "error mark", "implicit mark", replay.Retried}

func reportAltered(p *rules.Pass, d *replay.Difference) {
	f := p.FindItem(d.Stored, d.StoredItem)
	f.Call = rules.SoleCall(rules.RecordedItem(d))
	switch {
	case slices.Equal(d.What, []string{replay.Retried}):
		f.Severity = rules.Info
	case !slices.ContainsFunc(d.What, func(part string) bool { return !slices.Contains(beside, part) }):
		f.Severity = rules.Warning
	}
	f.Message = "the stored item differs from the recording in " + rules.JoinWords(d.What)
	f.AddSentence("The recording has " + rules.RecordedName(d.Recorded, d.RecordedItem))
	if was := rules.RecordedItem(d).Agent(); slices.Contains(d.What, "agent") {
		f.AddSentence(fmt.Sprintf("The stored agent is %s, the recorded one is %s", rules.AgentName(f.Agent), rules.AgentName(was)))
	}
	if slices.Contains(d.What, replay.Retried) {
		f.AddSentence("A request that failed in the middle and was made again leaves no event and can have caused this")
	}
	p.Report(f)
}
