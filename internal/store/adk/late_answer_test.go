package adk_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestALateAnswerGoesBeforeTheMadeUpOne: where a person answers after all, what a repair
// wrote in place of the answer is no defect that the next request fails of.
func TestALateAnswerGoesBeforeTheMadeUpOne(t *testing.T) {
	answer := func(author, id, name, value string) adktest.Event {
		return adktest.Event{Author: author, Invocation: "e-late", Parts: []adktest.Part{adktest.Answers(id, name, value)}}
	}
	text := adktest.Event{Author: "root", Invocation: "e-late", Parts: []adktest.Part{adktest.Text("good")}}
	madeUp := `{"error":"[sessctl] The run ended before this call was answered."}`

	slow := adktest.Script("pending")
	slow.Events = append(slow.Events[:2:2], answer("root", "adk-wait", "approve", madeUp), slow.Events[2], slow.Events[3],
		answer("user", "adk-wait", "approve", `{"status":"approved"}`), text)
	confirmed := adktest.Script("confirmed")
	confirmed.Events[2] = answer("root", "adk-pay", "pay", madeUp)

	for _, g := range adktest.Generations {
		for name, s := range map[string]adktest.Session{"a long-running call": slow, "a call that was confirmed": confirmed} {
			if g.Lacks(s) != "" {
				continue
			}
			t.Run(string(g)+"/"+name, func(t *testing.T) {
				path := created(t, g, s)
				plan, _, err := repairtest.Repair(path, "waiting")
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range plan.Findings {
					if f.Severity > rules.Info {
						t.Errorf("left: %s %s", f.Rule.ID, f.Message)
					}
				}
				if open := unanswered(t, path, g, s.ID); len(open) > 0 {
					t.Errorf("%v have no response", open)
				}
				if name == "a long-running call" && !plan.IsEmpty() {
					t.Errorf("there is something to repair:\n%s", told(plan))
				}
			})
		}
	}
}
