package repair_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Streams in which a result has to leave a message that holds more, or that holds
// what is no text: each was once rolled back, refused, or lost something.
func TestResultsLeaveMessagesThatHoldMore(t *testing.T) {
	const call = `{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"a","name":"f","args":"{}"}]}`
	for _, tc := range []struct {
		name  string
		lines []string
		kept  string // what the receipt holds, as it was stored
		stays string
	}{
		{
			"half a character in a result before its call",
			[]string{`{"type":"item","session":"P","kind":"message","role":"user","results":[{"call":"a","text":"price \ud83d 5"}]}`, call},
			`price \ud83d 5`, `price \ufffd 5`,
		},
		{
			"half a character in one of two results",
			[]string{call, `{"type":"item","session":"P","kind":"message","role":"user","text":"wait"}`,
				`{"type":"item","session":"P","kind":"message","role":"tool","results":[{"call":"zz","text":"x"},{"call":"a","text":"rb \ud83d"}]}`},
			`rb \ud83d`, `rb \ufffd`,
		},
		{
			"half a character in broken arguments",
			[]string{`{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"a","name":"f","args":"{\"k\":\"\ud83d\""}]}`,
				`{"type":"item","session":"P","kind":"message","role":"tool","results":[{"call":"a","text":"r"}]}`},
			`\ud83d`, "INVALID_JSON",
		},
		{
			"media beside a result that answers nothing",
			[]string{`{"type":"item","session":"P","kind":"message","role":"user","results":[{"call":"zz","text":"lost"}],"media":true}`},
			"lost", `"media":true`,
		},
		{
			"a blank text and media",
			[]string{`{"type":"item","session":"P","kind":"message","role":"assistant","text":" ","media":true,"results":[{"call":"zz","text":"lost"}]}`},
			"lost", `"media":true`,
		},
		{
			"a blank text alone",
			[]string{`{"type":"item","session":"P","kind":"message","role":"user","text":" ","results":[{"call":"zz","text":"lost"}]}`},
			"lost", `"id":"P"`,
		},
		{
			"a message that was never finished",
			[]string{call, strings.ReplaceAll(call, `"a"`, `"b"`),
				`{"type":"item","session":"P","kind":"message","role":"tool","results":[{"call":"a","text":"x"},{"call":"b","text":"y"}],"unfinished":true}`},
			"", `"text":"x"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stream := streamHeader + `{"type":"session","id":"P"}` + "\n" + strings.Join(tc.lines, "\n") + "\n"
			r := repairTwice(t, stream)
			if len(r.plan.Trees) == 0 || len(r.plan.Refused) > 0 {
				t.Errorf("%d trees are repaired, refused: %v", len(r.plan.Trees), r.plan.Refused)
			}
			if !strings.Contains(r.kept(), tc.kept) {
				t.Errorf("%q is not in the receipt: %s", tc.kept, r.kept())
			}
			if !strings.Contains(r.out, tc.stays) {
				t.Errorf("%q is not in the new stream:\n%s", tc.stays, r.out)
			}
		})
	}
}

// A result in a message of an unknown role stays: moved, it would lose the role.
func TestAMessageOfAnUnknownRoleKeepsItsResult(t *testing.T) {
	stream := streamHeader + `{"type":"session","id":"P"}
{"type":"item","session":"P","kind":"message","role":"assistant","calls":[{"id":"a","name":"f","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"user","text":"wait"}
{"type":"item","session":"P","kind":"message","role":"critic","results":[{"call":"a","text":"r"}]}
`
	r := repairStream(t, stream, rules.Judge{})
	if !strings.Contains(r.out, `"role":"critic","results":[{"call":"a","text":"r"}]`) {
		t.Errorf("the new stream holds\n%s", r.out)
	}
}

// A record that many parts leave is kept once for them, and once for what stays of it.
func TestARecordIsKeptOnce(t *testing.T) {
	var results []string
	for range 200 {
		results = append(results, `{"call":"zz","text":"`+session.SyntheticPrefix+strings.Repeat("x", 100)+`"}`)
	}
	r := repairTwice(t, streamHeader+`{"type":"session","id":"P"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q","results":[`+strings.Join(results, ",")+`]}
`)
	if size := len(r.kept()); size > 3*len(strings.Join(results, ",")) {
		t.Errorf("the receipt holds %d bytes", size)
	}
}
