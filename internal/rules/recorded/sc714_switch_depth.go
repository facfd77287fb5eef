package recorded

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/rules"
)

var switchDepth = rules.Rule{
	ID: "SC714", Name: "switch-depth", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerRecording, Since: "0.1.0",
	Title: "a recorded delegation has a beginning without an end, or an end without a beginning",
	Run: func(p *rules.Pass) {
		for i := range p.Recording.Anomalies {
			a := &p.Recording.Anomalies[i]
			f := p.FindLine(oddLine(a))
			f.Agent, f.Call, f.Message = a.Agent, a.Call, anomalyText(a)
			p.Report(f)
		}
		if named := len(p.Recording.Anomalies); p.Recording.Odd > named {
			f := p.FindLine(oddLine(&p.Recording.Anomalies[named-1]))
			f.Nth, f.Message = 1, fmt.Sprintf("%s after line %s", rules.CountedNoun(p.Recording.Odd-named, "further such delegation"), f.Ref.Key)
			p.Report(f)
		}
	},
}

// oddLine is the line of the switch that has no counterpart.
func oddLine(a *recording.Anomaly) int64 {
	if a.Kind == recording.UnmatchedEnd || a.Kind == recording.BegunInside {
		return a.Line
	}
	return a.Opened
}

// anomalyText says what is odd, and what it means to a runtime that counts the
// depth (docker/docker-agent#1739).
func anomalyText(a *recording.Anomaly) string {
	asked := delegationName(a)
	switch a.Kind {
	case recording.UnmatchedEnd:
		return fmt.Sprintf("line %d ends %s, which is not open. The depth stays 0; a runtime that counts below 0 "+
			"lets the messages of the next delegation leak.", a.Line, asked)
	case recording.UnmatchedStart:
		return fmt.Sprintf("%s begins at line %d and has no end. It is over at line %d, because the stream goes on without it. "+
			"A runtime that only counts holds back everything after it.", asked, a.Opened, a.Line)
	case recording.BegunInside:
		return fmt.Sprintf("the recording begins inside %s, as line %d shows. What comes between line %d and there was read as the run's own.",
			asked, a.Line, a.Opened)
	default:
		return fmt.Sprintf("the recording ends at line %d inside %s, which begins at line %d. What came next is not recorded. "+
			"docker agent stops a recording made with `--exec --json` before the first error, so the agent may have failed there.", a.Line, asked, a.Opened)
	}
}

// delegationName is the delegation as far as it is known: `the delegation from
// "root" to "worker" (call r1, sub-session 0519cf78)`.
func delegationName(a *recording.Anomaly) string {
	var known []string
	if a.Call != "" {
		known = append(known, "call "+a.Call)
	}
	if a.Child != "" {
		known = append(known, "sub-session "+rules.ShortID(a.Child))
	}
	name := fmt.Sprintf("the delegation from %s to %s", rules.AgentName(a.Caller), rules.AgentName(a.Agent))
	if len(known) > 0 {
		name += " (" + rules.JoinWords(known) + ")"
	}
	return name
}
