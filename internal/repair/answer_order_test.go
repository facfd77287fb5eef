package repair_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answersOf are the results behind the first message with calls, in their order,
// as "id=text", a placeholder as "id".
func answersOf(t *testing.T, stream string) []string {
	t.Helper()
	var list []string
	called := false
	items := readStream(t, stream)["P"].Items
	for i := range items {
		it := &items[i]
		if called && len(it.Results) == 0 {
			break
		}
		called = called || len(it.Calls) > 0
		for _, r := range it.Results {
			if r.Synthetic {
				list = append(list, r.CallID)
			} else {
				list = append(list, r.CallID+"="+r.Text)
			}
		}
	}
	return list
}

// Late results of one turn come to their calls in the order in which they stood,
// whatever one repair does besides: it names calls anew and adds placeholders.
func TestLateResultsKeepTheirOrder(t *testing.T) {
	const doubled = `{"id":"c","name":"shell","args":"{}"},{"id":"c","name":"shell","args":"{}"}`
	const three = `{"id":"a","name":"shell","args":"{}"},{"id":"b","name":"shell","args":"{}"},{"id":"c","name":"shell","args":"{}"}`
	tests := []struct {
		name, calls string
		near, late  []string // results behind the calls, and behind the user's message
		want        string
	}{
		{"parallel calls", three, nil, []string{"a", "b", "c"}, "a=0 b=1 c=2"},
		{"in another order than their calls", three, nil, []string{"c", "a", "b"}, "c=0 a=1 b=2"},
		{"the ids are doubled", doubled, nil, []string{"c", "c"}, "c=0 c_dup1=1"},
		{"the first is there", three, []string{"a"}, []string{"b", "c"}, "a=0 b=1 c=2"},
		{"the last is there", three, []string{"c"}, []string{"a", "b"}, "c=0 a=1 b=2"},
		{"the first has none", three, nil, []string{"b", "c"}, "a b=0 c=1"},
		{"the second has none", three, nil, []string{"a", "c"}, "b a=0 c=1"},
		{"one of doubled ids has none", doubled, nil, []string{"c"}, "c_dup1 c=0"},
	}
	for _, tt := range tests {
		for _, together := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				n := 0
				lines := func(ids []string) string {
					var results []string
					for _, id := range ids {
						results = append(results, `{"call":"`+id+`","text":"`+string(rune('0'+n))+`"}`)
						n++
					}
					const begin, end = `{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[`, "]}\n"
					if len(ids) == 0 {
						return ""
					}
					if together {
						return begin + strings.Join(results, ",") + end
					}
					return begin + strings.Join(results, end+begin) + end
				}
				r := repairTwice(t, streamHeader+`{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[`+tt.calls+`]}
`+lines(tt.near)+`{"type":"item","session":"P","kind":"message","role":"user","text":"and hurry"}
`+lines(tt.late)+`{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
`)
				if diff := cmp.Diff(tt.want, strings.Join(answersOf(t, r.out), " ")); diff != "" {
					t.Errorf("want (-), got (+):\n%s\nafter %s", diff, fixesOf(r.plan))
				}
			})
		}
	}
}
