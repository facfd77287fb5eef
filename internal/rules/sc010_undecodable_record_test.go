package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/session"
)

func TestSC010UndecodableRecord(t *testing.T) {
	fault := session.Fault{Kind: session.Undecodable, Field: "message_json", Detail: "unexpected end of JSON input"}
	whole := fault
	whole.Whole, whole.Detail = true, "it is not a list of calls"
	runCases(t, []ruleCase{
		{
			name: "an item in a form that is not known", tree: quiet, tweak: ofItem(whole),
			want: `
				SC010 error P.1
				kept with unknown-form: quarantine P.1`,
			says: "message_json is in a form that sessctl does not know: it is not a list of calls",
		},
		{
			name: "an item that does not decode", tree: quiet, tweak: ofItem(fault),
			want: `
				SC010 error P.1
				kept: quarantine P.1`,
			says: "message_json cannot be read, so the session fails to load: unexpected end of JSON input",
		},
		{name: "a record that belongs to no session", tree: quiet, store: ofStore(fault), want: `SC010 error`},
	})
}

func TestSC010LinesOfARecordingThatAreNoEvents(t *testing.T) {
	log, cut := recording.Skipped{Line: 3, Why: "it is no JSON"}, recording.Skipped{Line: 9, Why: "the line ends in the middle"}
	for _, tc := range []struct {
		name    string
		skipped []recording.Skipped
		unread  int
		want    []string
	}{
		{"none", nil, 0, []string{}},
		{"one", []recording.Skipped{log}, 1, []string{
			"SC010 warning events/3 : 1 line of the recording is not read in full: line 3 (it is no JSON)",
		}},
		{"more than are named", []recording.Skipped{log, cut, log, cut, log}, 12, []string{
			"SC010 warning events/3 : 12 lines of the recording are not read in full: line 3 (it is no JSON), " +
				"line 9 (the line ends in the middle), line 3 (it is no JSON), line 9 (the line ends in the middle) and 8 more",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, findRecorded(&recording.Result{Skipped: tc.skipped, Unread: tc.unread})); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}
