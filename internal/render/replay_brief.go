package render

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/ui"
)

// leftColumns is how wide an id may be that is told below its row.
const leftColumns = 40

// briefEvent names the event of a row in so many columns. A switch goes without the
// agent that it comes from, which other rows tell unless it is odd; what else has no
// room is left.
func briefEvent(r *recording.Row, width int, left *[]string) string {
	words := replayEventWords(r)
	if lipgloss.Width(words) <= width {
		return words
	}
	if r.Kind != recording.Switched {
		if replayStranger(r) {
			words = replayEventName(r)
			*left = append(*left, "agent "+agentWords(r.Agent))
		}
		return ui.Truncate(words, width)
	}
	words = replayEventName(r) + " →" + agentWords(r.To)
	if lipgloss.Width(words) > width || r.Anomaly != nil {
		*left = append(*left, agentWords(r.From)+"→"+agentWords(r.To))
	}
	return ui.Truncate(words, width)
}

// briefWhy says why in so many columns. Where there is no room for everything, the
// reason is left out of a row that is about something, unless the row has a sign:
// then it is left, as is what is odd.
func briefWhy(r *recording.Row, width int, left *[]string) string {
	if why := replayWhy(r, width); lipgloss.Width(why) <= width {
		return why
	}
	why := briefReason(r, width)
	if about := replaySubject(r, max(width-len("result of "), leastID)); len(about) > 0 {
		why = about[0]
		if r.Reason != replay.NothingStored && (r.Anomaly != nil || r.Disagree()) {
			*left = append(*left, reasonWords(r, r.Reason, leftColumns))
		}
	}
	if a := oddWords(r, leftColumns); a != "" {
		*left = append(*left, a)
	}
	return why
}

// leastID is what of an id is told at the least.
const leastID = 8

// briefReason is "r1 opens" for "delegation r1 opens", and "stream ID" for "stream
// of ID".
func briefReason(r *recording.Row, width int) string {
	words := replayReasons[r.Reason].words
	if verb, ok := strings.CutPrefix(words, "{call} "); ok && r.Call != "" {
		return callWords(r.Call, max(width-len(verb)-1, leastID)) + " " + verb
	}
	words = reasonWords(r, r.Reason, width)
	if lipgloss.Width(words) > width {
		words = strings.Replace(words, " of ", " ", 1)
	}
	return words
}
