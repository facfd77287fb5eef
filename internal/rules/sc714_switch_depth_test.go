package rules_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// findRecorded runs all rules over a recording, in the form "SC714 events/12: …".
func findRecorded(read *recording.Result) []string {
	found := []string{}
	pass := rules.NewRecordingPass(&session.Store{}, read, func(f *rules.Finding) {
		found = append(found, fmt.Sprintf("%s %s %s %s: %s", f.Rule.ID, f.Severity, f.Ref.Row(), f.Call, f.Message))
	})
	for _, r := range catalogue.All {
		if r.Scope&rules.PerRecording != 0 {
			pass.Run(r)
		}
	}
	return found
}

func TestSC714SwitchDepth(t *testing.T) {
	start := recording.Anomaly{
		Kind: recording.UnmatchedStart, Line: 14, Opened: 12, Child: "0519cf78-0000-4000-8000-000000000000",
		Caller: "root", Agent: "worker", Call: "r1",
	}
	cut := start
	cut.Kind, cut.Line = recording.CutOff, 19
	inside := start
	inside.Kind, inside.Line = recording.BegunInside, 19
	const named = `the delegation from "root" to "worker" (call r1 and sub-session 0519cf78)`
	for _, tc := range []struct {
		name      string
		recording recording.Result
		want      []string
	}{
		{"a balanced recording", recording.Result{}, []string{}},
		{"a beginning without an end", recording.Result{Anomalies: []recording.Anomaly{start}, Odd: 1}, []string{
			"SC714 warning events/12 r1: " + named + " begins at line 12 and has no end. It is over at line 14, because the stream goes on " +
				"without it. A runtime that only counts holds back everything after it.",
		}},
		{"a recording that was cut off", recording.Result{Anomalies: []recording.Anomaly{cut}, Odd: 1}, []string{
			"SC714 warning events/12 r1: the recording ends at line 19 inside " + named + ", which begins at line 12. What came next is not " +
				"recorded. docker agent stops a recording made with `--exec --json` before the first error, so the agent may have failed there.",
		}},
		{"a recording that begins inside", recording.Result{Anomalies: []recording.Anomaly{inside}, Odd: 1}, []string{
			"SC714 warning events/19 r1: the recording begins inside " + named + ", as line 19 shows. What comes between line 12 and there " +
				"was read as the run's own.",
		}},
		{
			"ends without a beginning, more than are listed",
			recording.Result{Anomalies: []recording.Anomaly{{Kind: recording.UnmatchedEnd, Line: 20, Caller: "root"}}, Odd: 3},
			[]string{
				`SC714 warning events/20 : line 20 ends the delegation from "root" to an agent without a name, which is not open. ` +
					"The depth stays 0; a runtime that counts below 0 lets the messages of the next delegation leak.",
				"SC714 warning events/20 : 2 further such delegations after line 20",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, findRecorded(&tc.recording)); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}
