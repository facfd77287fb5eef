package adk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestOddEventsAreRepaired repairs sessions with events whose rows tell more, or
// less, than a message has room for, in every generation, and takes it back.
func TestOddEventsAreRepaired(t *testing.T) {
	asks := adktest.Event{Author: "user", Parts: []adktest.Part{adktest.Text("go")}}
	calls := adktest.Event{Author: "root", Parts: []adktest.Part{adktest.Calls("toolu_one", "look", `{}`)}}
	answer := adktest.Answers("toolu_one", "look", `{"result":"seen"}`)
	at := func(e adktest.Event) adktest.Event {
		e.Time = adktest.Start.Add(time.Second)
		return e
	}
	for name, events := range map[string][]adktest.Event{
		"a change of the state that gets another time": {
			asks, at(calls), at(adktest.Event{Author: "root", Actions: adktest.Actions{StateDelta: `{"a":1}`}}),
			at(adktest.Event{Author: "user", Parts: []adktest.Part{answer}}),
		},
		"a blank text beside nothing but results": {
			asks, calls, {Author: "root", Role: "user", Parts: []adktest.Part{answer, adktest.Text(" \n")}},
			{Author: "root", Parts: []adktest.Part{adktest.Text(" "), adktest.Calls("toolu_two", "look", `{}`)}}, asks,
		},
		"a blank text beside nothing but results, which all leave": {
			asks, calls, {Author: "root", Role: "user", Parts: []adktest.Part{answer}},
			{Author: "root", Role: "user", Parts: []adktest.Part{
				adktest.Answers("toolu_none", "look", `{"result":"other"}`), adktest.Answers("toolu_none", "look", `{"result":"third"}`), adktest.Text(" \n"),
			}},
		},
		"a thought beside nothing but results, which all leave": {
			asks, calls, {Author: "root", Role: "user", Parts: []adktest.Part{answer}},
			{Author: "root", Role: "user", Parts: []adktest.Part{
				adktest.Answers("toolu_none", "look", `{"result":"other"}`), adktest.Answers("toolu_none", "look", `{"result":"third"}`), {Text: "hm", Thought: true},
			}},
		},
		"a blank text that alone lets a thought be sent": {
			asks, calls, asks, {Author: "root", Parts: []adktest.Part{{Text: "hm", Thought: true}, adktest.Text("\n")}}, asks,
		},
		"answers of a call that waits, among events of one time": {
			at(asks), at(adktest.Event{Author: "root", Parts: []adktest.Part{calls.Parts[0], adktest.Calls("toolu_two", "look", `{}`)}, Waits: []string{"toolu_one"}}),
			at(adktest.Event{Author: "root", Parts: []adktest.Part{
				adktest.Answers("toolu_one", "look", `{"status":"pending"}`), adktest.Answers("toolu_two", "look", `{"status":"done"}`),
			}}),
			at(adktest.Event{Author: "root", Parts: []adktest.Part{adktest.Text("wait")}}),
			{Author: "user", Parts: []adktest.Part{answer}}, {Author: "root", Parts: []adktest.Part{adktest.Text("seen")}},
		},
		"what a rewind annuls, among events of one time": {
			{Author: "user", Invocation: "e-1", Parts: asks.Parts},
			at(adktest.Event{Author: "root", Invocation: "e-1", Parts: []adktest.Part{adktest.Text("yes")}}),
			at(adktest.Event{Author: "user", Invocation: "e-2", Parts: asks.Parts}),
			at(adktest.Event{Author: "root", Invocation: "e-2", Parts: calls.Parts}),
			at(adktest.Event{Author: "user", Invocation: "e-3", Actions: adktest.Actions{RewindBefore: "e-2"}}),
			at(adktest.Event{Author: "user", Invocation: "e-3", Parts: asks.Parts}),
		},
	} {
		for _, g := range adktest.Generations {
			odd := adktest.Session{ID: "odd", Events: events}
			if g.Lacks(odd) != "" {
				continue
			}
			t.Run(string(g)+"/"+name, func(t *testing.T) {
				path := created(t, g, odd)
				before := dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil || receipt == nil {
					t.Fatalf("%v\n%s", err, told(plan))
				}
				if strings.Contains(name, "annuls") && g != adktest.K1 && len(plan.Trees[0].Fixes) > 1 {
					t.Errorf("more is done than the order asks for:\n%s", told(plan))
				}
				stable(t, path, before, receipt)
			})
		}
	}
}

// TestAPlannedResultIsReadAsItIsWritten: what the reader derives of a new result, such as which
// versions can have written it, the plan derives of its call.
func TestAPlannedResultIsReadAsItIsWritten(t *testing.T) {
	asks := adktest.Event{Author: "user", Parts: []adktest.Part{adktest.Text("go")}}
	said := func(agent string, parts ...adktest.Part) adktest.Event {
		return adktest.Event{Author: agent, Branch: "team." + agent, Parts: parts}
	}
	for _, g := range adktest.Generations {
		odd := adktest.Session{ID: "odd", Events: []adktest.Event{
			asks, said("w10", adktest.Text("ten")), said("w1", adktest.Calls("tc-1", "grep", `{}`)), asks, {Author: "sum", Parts: []adktest.Part{adktest.Text("done")}},
		}}
		if g.Lacks(odd) != "" {
			continue
		}
		t.Run(string(g), func(t *testing.T) {
			path := created(t, g, odd)
			before := dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil || receipt == nil {
				t.Fatalf("%v\n%s", err, told(plan))
			}
			stable(t, path, before, receipt)
		})
	}
}
