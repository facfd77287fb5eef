package repair_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// A leaked result that belongs two levels down goes there in one repair: moved
// to the first child it is a leak there, with the same record, and the plan has
// to take that up in its next round.
func TestALeakTwoLevelsDownIsRepairedAtOnce(t *testing.T) {
	repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"T1","name":"transfer_task","args":"{\"agent\":\"a\",\"task\":\"one\"}"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"b","results":[{"call":"S","text":"something else"}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T1","text":"done a"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
{"type":"session","id":"C","parent":"P"}
{"type":"item","session":"C","kind":"message","role":"system","text":"one"}
{"type":"item","session":"C","kind":"message","role":"user","text":"go","implicit":true}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","calls":[{"id":"T2","name":"transfer_task","args":"{\"agent\":\"b\",\"task\":\"two\"}"}]}
{"type":"item","session":"C","kind":"sub_session","child":"D"}
{"type":"item","session":"C","kind":"message","role":"tool","agent":"a","results":[{"call":"T2","text":"done b"}]}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"done a"}
{"type":"session","id":"D","parent":"C"}
{"type":"item","session":"D","kind":"message","role":"system","text":"two"}
{"type":"item","session":"D","kind":"message","role":"user","text":"go","implicit":true}
{"type":"item","session":"D","kind":"message","role":"assistant","agent":"b","calls":[{"id":"S","name":"shell","args":"{}"}]}
{"type":"item","session":"D","kind":"message","role":"tool","agent":"b","results":[{"call":"S","text":"result"}]}
{"type":"item","session":"D","kind":"message","role":"assistant","agent":"b","text":"done b"}
`)
}

// What only loaded texts tell is not what a check finds: that a step of the child is one
// of its parent, whose call has the same arguments while the messages differ.
func TestAPlanForetellsWhatACheckFindsWithoutTexts(t *testing.T) {
	r := repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"A","name":"shell","args":"{\"cmd\":\"ls\"}"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"A","text":"a"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"T1","name":"transfer_task","args":"{\"agent\":\"a\",\"task\":\"one\"}","delegation":{"agent":"a","blocking":true}}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
{"type":"session","id":"C","parent":"P","agent":"a"}
{"type":"item","session":"C","kind":"message","role":"system","text":"one"}
{"type":"item","session":"C","kind":"message","role":"user","text":"go","implicit":true}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"root","text":"as I said","calls":[{"id":"A","name":"shell","args":"{\"cmd\":\"ls\"}"}]}
{"type":"item","session":"C","kind":"message","role":"tool","agent":"root","results":[{"call":"A","text":"another"}]}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"done a"}
`)
	if r.plan.IsEmpty() {
		t.Error("nothing was repaired")
	}
}

// Taking one of two results out of an item leaves an item with one.
func TestOneOfTwoResultsLeaves(t *testing.T) {
	repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"A","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"A","text":"a"},{"call":"X","text":"of nobody"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
`)
}

// Results can stand in a message of the user, beside its text or alone.
func TestResultsInMessagesOfTheUser(t *testing.T) {
	for _, tt := range []struct{ name, line string }{
		{"orphan beside text", `"role":"user","text":"more","results":[{"call":"A","text":"a"},{"call":"X","text":"of nobody"}]`},
		{"orphan and result", `"role":"user","results":[{"call":"A","text":"a"},{"call":"X","text":"of nobody"}]`},
		{"late result beside text", `"role":"user","text":"more","results":[{"call":"A","text":"a"}]`},
		{"only an orphan", `"role":"user","results":[{"call":"X","text":"of nobody"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"A","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message",`+tt.line+`}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
`)
		})
	}
}

// A result that stands in an item with others, far from its call, goes there.
func TestOneOfTwoResultsMoves(t *testing.T) {
	for _, role := range []string{"tool", "user"} {
		t.Run(role, func(t *testing.T) {
			repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"A","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"between","calls":[{"id":"B","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"`+role+`","agent":"root","results":[{"call":"A","text":"a","x":1},{"call":"B","text":"b","y":1.0}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
`)
		})
	}
}

// The results of an item are numbered anew when one of them left in an earlier
// round, and the ledger counts the right ones.
func TestResultsLeaveAnItemInTwoRounds(t *testing.T) {
	repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"T1","name":"transfer_task","args":"{\"agent\":\"a\",\"task\":\"one\"}"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"a","text":"let me see","calls":[{"id":"S","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"a","results":[{"call":"S","text":"s"}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T1","text":"done a"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
{"type":"session","id":"C","parent":"P"}
{"type":"item","session":"C","kind":"message","role":"system","text":"one"}
{"type":"item","session":"C","kind":"message","role":"user","text":"go","implicit":true}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"let me see","calls":[{"id":"S","name":"shell","args":"{}"}]}
{"type":"item","session":"C","kind":"message","role":"tool","agent":"a","results":[{"call":"X","text":"of nobody"},{"call":"S","text":"s"}]}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"done a"}
`)
}

// A placeholder that one round adds can be in the way of the next, which knows
// more: then it is neither added nor kept in the receipt.
func TestAPlaceholderIsNotAddedForAResultThatArrives(t *testing.T) {
	r := repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"T1","name":"transfer_task","args":"{\"agent\":\"a\",\"task\":\"one\"}"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"a","text":"let me see","calls":[{"id":"S","name":"shell","args":"{}"},{"id":"S2","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"a","results":[{"call":"S2","text":"s2"},{"call":"S","text":"s"}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T1","text":"done a"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
{"type":"session","id":"C","parent":"P"}
{"type":"item","session":"C","kind":"message","role":"system","text":"one"}
{"type":"item","session":"C","kind":"message","role":"user","text":"go","implicit":true}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"let me see","calls":[{"id":"S","name":"shell","args":"{}"},{"id":"S2","name":"shell","args":"{}"}]}
{"type":"item","session":"C","kind":"message","role":"tool","agent":"a","results":[{"call":"S2","text":"s2"}]}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"done a"}
`)
	if strings.Contains(r.kept(), session.SyntheticPrefix) || strings.Contains(r.out, session.SyntheticPrefix) {
		t.Errorf("%s\n%s", r.kept(), r.out)
	}
}

// Every copy of a result leaves in one repair, also those that stand in one item
// and those that come back from a leak.
func TestAllCopiesOfResultsLeaveAtOnce(t *testing.T) {
	repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"T1","name":"transfer_task","args":"{\"agent\":\"a\",\"task\":\"one\"}"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"a","text":"let me see","calls":[{"id":"S","name":"shell","args":"{}"},{"id":"S2","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"a","results":[{"call":"S","text":"s"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"a","results":[{"call":"S2","text":"s2"}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T1","text":"done a"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
{"type":"session","id":"C","parent":"P"}
{"type":"item","session":"C","kind":"message","role":"system","text":"one"}
{"type":"item","session":"C","kind":"message","role":"user","text":"go","implicit":true}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"let me see","calls":[{"id":"S","name":"shell","args":"{}"},{"id":"S2","name":"shell","args":"{}"}]}
{"type":"item","session":"C","kind":"message","role":"tool","agent":"a","results":[{"call":"S2","text":"s2"},{"call":"S2","text":"s2"},{"call":"S","text":"s"}]}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"a","text":"done a"}
`)
}

// A plan for a session that is gone from the stream, or below another one now, is for
// another stream.
func TestAPlanForASessionThatIsGone(t *testing.T) {
	const other = `{"type":"session","id":"O","agent":"root"}` + "\n"
	const damaged = `{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"A","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"user","text":"and?"}
`
	const p = `{"type":"session","id":"P","agent":"root"}` + "\n" + damaged
	plan := repairStream(t, streamHeader+other+p, rules.Judge{}).plan
	for name, now := range map[string]string{
		"gone": other, "a child": other + p + `{"type":"item","session":"O","kind":"sub_session","child":"P"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in.ndjson")
			must(t, os.WriteFile(path, []byte(streamHeader+now), 0o600))
			st, err := openStream(path)
			must(t, err)
			a := repair.Apply{Receipt: path + ".receipt.json", Prologue: canonical.Kind.Prologue}
			_, err = a.Output(t.Context(), canonical.Kind, st, plan, path+".out")
			if problem.ClassOf(err) != problem.Busy || !strings.Contains(err.Error(), "session P") {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(path + ".out"); !os.IsNotExist(err) {
				t.Errorf("a file was written: %v", err)
			}
		})
	}
}

// Arguments that are an object become Unicode with the rest of the line.
func TestArgumentsThatAreNoUnicode(t *testing.T) {
	r := repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"A","name":"shell","args":{"x":"`+"\xff"+`","y": "\ud83d\/"}}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"A","text":"a"}]}
`)
	if want := `"args":{"x":"` + "\ufffd" + `","y": "\ufffd\/"}`; !strings.Contains(r.out, want) {
		t.Errorf("%s is not in\n%s", want, r.out)
	}
}
