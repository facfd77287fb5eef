package events

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// splits are objects, and whether split leaves them to the exact path.
var splits = []struct {
	text string
	left bool
}{
	{text: `{}`},
	{text: " {\t}"},
	{text: "{}\n", left: true},
	{text: `{"type":"a","type":"b"}`},
	{text: `{"type" : "a" , "other" : [ 1 , {"id":[]} , true , false , null ] , "agent_name":"x"}`},
	{text: `{"content":"a \" quote, a \\ and \u00e9 behind eight bytes","error":"\/\b\f\n\r\t"}`},
	{text: `{"content":"` + "\xff\xfe" + `","type":"a"}`},
	{text: `{"session_position":-1.5e+10,"first_kept_entry":0}`},
	{text: `{"tool_call":{"function":{"arguments":"{}"}},"usage":[{}]}`},
	{text: `{"content":"\ud83d\ude00"}`},
	{text: `{"content":"\ud83d\ud83d"}`, left: true},
	{text: `{"content":"\ude00\ud83d"}`, left: true},
	{text: `{"content":"\ud83d\u0041"}`, left: true},
	{text: `{"content":"\ud83d"}`, left: true},
	{text: `{"\u0074ype":"a"}`, left: true},
	{text: `{"content":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, left: true},
	{text: ``, left: true},
	{text: `[]`, left: true},
	{text: `{"type":"a"} {}`, left: true},
	{text: `{"type":"a"`, left: true},
	{text: `{"type":"a",}`, left: true},
	{text: `{"type":01}`, left: true},
	{text: `{"type":1.}`, left: true},
	{text: `{"type":-}`, left: true},
	{text: `{"type":1e}`, left: true},
	{text: `{"type":tru}`, left: true},
	{text: `{"type":"a\x"}`, left: true},
	{text: `{"type":"a\u00g0"}`, left: true},
	{text: "{\"type\":\"a\tb\"}", left: true},
	{text: "{\"type\":\"a\x00\"}", left: true},
	{text: "{}\x00", left: true},
	{text: `{"type"}`, left: true},
	{text: `{"type":[1,]}`, left: true},
	{text: `{"type":{"id"}}`, left: true},
	{text: `{"type":[}}`, left: true},
}

func TestSplitFindsWhatTheExactPathFinds(t *testing.T) {
	for _, tc := range splits {
		var o object
		if took := splitMembers([]byte(tc.text), &o); took == tc.left {
			t.Errorf("%q: split took it: %t", tc.text, took)
		}
		agree(t, []byte(tc.text))
	}
}

// usual are events as docker agent writes them.
var usual = strings.Split(strings.TrimSpace(`
{"type":"user_message","message":"please go on","session_id":"root","session_position":0,"timestamp":"2026-02-03T09:56:40.346973962Z"}
{"type":"agent_choice","content":"Grüße, \u00e9 and the next\npiece","session_id":"root","agent_name":"root","timestamp":"2026-02-03T09:56:40.3Z"}
{"type":"tool_call","tool_call":{"id":"w1","type":"function","function":{"name":"shell","arguments":"{\"cmd\":\"ls\"}"}},"tool_definition":{"name":"shell","category":"shell","description":"Runs a command.\nGive it whole.","parameters":{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]},"annotations":{"title":"Shell","readOnlyHint":false},"outputSchema":{"type":"string"}},"agent_name":"worker"}
{"type":"token_usage","session_id":"root","usage":{"input_tokens":10,"cost":0.25,"last_message":{"input_tokens":10,"Cost":0,"Model":"test/mock"}},"agent_name":"root"}
{"type":"sub_session_completed","parent_session_id":"root","sub_session":{"id":"child","title":"Transferred task","messages":[{"message":{"agentName":"worker","message":{"role":"tool","content":"a file","tool_call_id":"w1","created_at":"2026-02-03T09:56:40Z"}}}],"created_at":"2026-02-03T09:56:40.5Z"},"agent_name":"worker"}
`), "\n")

// TestSplitTakesWhatIsRecorded would notice that every event takes the slow path.
func TestSplitTakesWhatIsRecorded(t *testing.T) {
	for _, line := range usual {
		var o object
		if !splitMembers([]byte(line), &o) {
			t.Errorf("left to the exact path: %s", line)
		}
		agree(t, []byte(line))
	}
}

func FuzzSplit(f *testing.F) {
	for _, tc := range splits {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(agree)
}

// agree fails where split takes what the exact path does not, or finds something
// else in it.
func agree(t *testing.T, data []byte) {
	var fast, exact object
	if !splitMembers(data, &fast) {
		return
	}
	var p parser
	if err := p.readExactly(slices.Clone(data), &exact); err != nil {
		t.Fatalf("%q: split takes it, the exact path says %v", data, err)
	}
	if diff := cmp.Diff(exact, fast); diff != "" {
		t.Fatalf("%q: exact (-) and fast (+) differ:\n%s", data, diff)
	}
}
