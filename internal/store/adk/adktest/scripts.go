package adktest

import (
	"strings"
	"time"
)

// Scripts are all sessions that are described here, by their ids. Not every
// generation can store every one of them: see Generation.Lacks.
func Scripts() []Session {
	return []Session{
		SequenceOfGroups(), NestedGroups(), PrefixNames(),
		Interrupted(), PartlyAnswered(), OrphanResponse(), LongRunning(), Pending(), Confirmed(), Asked(), AskedAndLeft(), Requested(), AnsweredTogether(),
		Transfer(), AgentTool(), SingleTurn(), SingleTurnOfCall(), TaskMode(),
		Compacted(), Rewound(), Ties(), MixedOffsets(),
	}
}

// For are those of the sessions that the generation can store.
func (g Generation) For(sessions []Session) []Session {
	var list []Session
	for _, s := range sessions {
		if g.Lacks(s) == "" {
			list = append(list, s)
		}
	}
	return list
}

// Shapes of agents that hand work to others.

// Transfer is an agent that hands the session over; the next turn goes on there.
func Transfer() Session {
	handed := calls("root", Answers("adk-go", "transfer_to_agent", `{"result":null}`))
	handed.Actions.Transfer = "billing"
	return turns(Session{ID: "transfer", Events: []Event{
		asks("pay"), calls("root", Calls("adk-go", "transfer_to_agent", `{"agent_name":"billing"}`)), handed, says("billing", ""),
		asks("more"), says("billing", ""),
	}}, 4)
}

// AgentTool is an agent behind a tool: it leaves no events, only what it changed of
// the state.
func AgentTool() Session {
	answer := calls("root", Answers("adk-help", "helper", `{"result":"helped"}`))
	answer.Actions.StateDelta = `{"found":2}`
	return Session{ID: "agent-tool", State: `{"found":2}`, Events: []Event{
		asks("x"), calls("root", Calls("adk-help", "helper", `{"request":"do x"}`)), answer, says("root", ""),
	}}
}

// SingleTurn is a sub-agent of adk 2 that runs as a tool, on a branch of its own
// below no other: without a filter for such branches its caller sees it later. The
// branch is adk-go's, which counts the runs.
func SingleTurn() Session { return singleTurn("single-turn", "tr@1") }

// SingleTurnOfCall is the same with adk-python's branch, which names the call.
func SingleTurnOfCall() Session { return singleTurn("single-turn-of-call", "tr@adk-tr") }

func singleTurn(id, branch string) Session {
	run := says("tr", branch)
	run.Node = "root/" + branch
	return nodes(turns(Session{ID: id, Events: []Event{
		asks("translate"), calls("root", Calls("adk-tr", "tr", `{"request":"text"}`)), run,
		calls("root", Answers("adk-tr", "tr", `{"result":"tr says"}`)), says("root", ""),
		asks("again"), says("root", ""),
	}}, 5))
}

// TaskMode is a sub-agent of adk 2 with a task of its own: its events are in the
// scope of the call, and the call's answer is the user's.
func TaskMode() Session {
	const scope = "adk-task"
	inner := []Event{
		calls("collector", Calls("adk-ask", "look", `{}`)), calls("collector", Answers("adk-ask", "look", `{"result":"seen"}`)),
		calls("collector", Calls("adk-end", "finish_task", `{"result":"collected"}`)),
		calls("collector", Answers("adk-end", "finish_task", `{"result":"Task completed."}`)),
	}
	for i := range inner {
		inner[i].Scope, inner[i].Node = scope, "root/collector@"+scope
	}
	s := Session{ID: "task-mode", Events: []Event{asks("order"), calls("root", Calls(scope, "collector", `{"request":"collect"}`))}}
	s.Events = append(s.Events, inner...)
	s.Events = append(s.Events,
		Event{Author: "user", Parts: []Part{Answers(scope, "collector", `{"result":"collected"}`)}}, says("root", ""))
	return nodes(s)
}

// nodes gives what the root says its node path.
func nodes(s Session) Session {
	for i := range s.Events {
		if s.Events[i].Author == "root" {
			s.Events[i].Node = "root"
		}
	}
	return s
}

// Shapes of calls and their answers.

// Interrupted is a tool call whose answer was never stored: the consumer stopped
// after the call, and the next turn goes on.
func Interrupted() Session {
	return turns(Session{ID: "interrupted", Events: []Event{
		asks("first"), calls("root", Calls("adk-slow", "slow", `{"Q":"1"}`)),
		asks("second"), says("root", ""),
	}}, 2)
}

// PartlyAnswered are two calls of one event of which one has an answer.
func PartlyAnswered() Session {
	return turns(Session{ID: "partly-answered", Events: []Event{
		asks("first"), calls("root", Calls("adk-one", "look", `{}`), Calls("adk-two", "slow", `{}`)),
		calls("root", Answers("adk-one", "look", `{"result":"seen"}`)),
		asks("second"), says("root", ""),
	}}, 3)
}

// OrphanResponse is an answer that somebody posted to a call that nobody made.
func OrphanResponse() Session {
	return turns(Session{ID: "orphan-response", Events: []Event{
		asks("first"), says("root", ""),
		{Author: "user", Parts: []Part{Answers("adk-none", "x", `{"a":1}`)}},
	}}, 2)
}

// LongRunning is a call that waits for somebody outside: its first answer says so,
// and the turns go on.
func LongRunning() Session {
	call := calls("root", Calls("adk-wait", "approve", `{}`))
	call.Waits = []string{"adk-wait"}
	return turns(Session{ID: "long-running", Events: []Event{
		asks("first"), call, calls("root", Answers("adk-wait", "approve", `{"status":"pending"}`)), says("root", ""),
		asks("second"), says("root", ""),
	}}, 4)
}

// Pending is a long-running call without any answer.
func Pending() Session {
	call := calls("root", Calls("adk-wait", "approve", `{}`))
	call.Waits = []string{"adk-wait"}
	return turns(Session{ID: "pending", Events: []Event{asks("first"), call, asks("second"), says("root", "")}}, 2)
}

// Confirmed is a tool that runs when a person has agreed: the question is a
// long-running call of its own, and the tool's call gets a second answer.
func Confirmed() Session {
	refused := calls("root", Answers("adk-pay", "pay", `{"error":"the tool requires confirmation"}`))
	refused.Actions = Actions{SkipSummary: true, Confirmations: []string{"adk-pay"}}
	question := calls("root", Calls("adk-ask", "adk_request_confirmation",
		`{"originalFunctionCall":{"id":"adk-pay","name":"pay","args":{"sum":3}},"toolConfirmation":{"hint":"please confirm","confirmed":false}}`))
	question.Role, question.Waits = "model", []string{"adk-ask"}
	return turns(Session{ID: "confirmed", Events: []Event{
		asks("pay"), calls("root", Calls("adk-pay", "pay", `{"sum":3}`)), refused, question,
		{Author: "user", Parts: []Part{Answers("adk-ask", "adk_request_confirmation", `{"confirmed":true}`)}},
		calls("root", Answers("adk-pay", "pay", `{"result":"paid"}`)), says("root", ""),
	}}, 4)
}

// Asked is a call that a person was asked about, where the consumer stopped at the
// question: the response for now is not stored.
func Asked() Session {
	s := Confirmed()
	s.ID, s.Events = "asked", []Event{s.Events[0], s.Events[1], s.Events[3]}
	return s
}

// AskedAndLeft is the same, and the user went on without an answer.
func AskedAndLeft() Session {
	s := Asked()
	s.ID, s.Events = "asked-and-left", append(s.Events, asks("never mind"), says("root", ""))
	return turns(s, 3)
}

// Requested is a workflow that asks a person for something: a call of no model.
func Requested() Session {
	call := calls("flow", Calls("ask-1", "adk_request_input", `{"interruptId":"ask-1","message":"which?"}`))
	call.Waits = []string{"ask-1"}
	return turns(Session{ID: "requested", Events: []Event{asks("first"), says("a", ""), call, asks("second"), says("a", "")}}, 3)
}

// AnsweredTogether are two calls of different events, answered in one.
func AnsweredTogether() Session {
	return turns(Session{ID: "answered-together", Events: []Event{
		asks("first"), calls("root", Calls("adk-one", "look", `{}`)), calls("root", Calls("adk-two", "look", `{}`)),
		calls("root", Answers("adk-one", "look", `{"result":1}`), Answers("adk-two", "look", `{"result":{"deep":[2]}}`)),
		says("root", ""), asks("second"), says("root", ""),
	}}, 5)
}

// turns gives the events before the n-th one invocation and those from there on
// another.
func turns(s Session, n int) Session {
	for i := range s.Events {
		if i < n {
			s.Events[i].Invocation = "e-00000000-0000-4000-8000-000000000001"
		} else {
			s.Events[i].Invocation = "e-00000000-0000-4000-8000-000000000002"
		}
	}
	return s
}

// Shapes of times, summaries and rewinds.

// Compacted is a session of which a summary stands for the first turn.
func Compacted() Session {
	s := turns(Session{ID: "compacted", Events: []Event{
		asks("first"), says("root", ""), {Author: "user"}, asks("second"), says("root", ""),
	}}, 2).timed()
	s.Events[2].Invocation = "e-00000000-0000-4000-8000-000000000003"
	s.Events[2].Actions.Compaction = &Compaction{s.Events[0].Time, s.Events[1].Time, "the user said first"}
	return s
}

// Rewound is a session whose second turn was annulled, and done in another way.
func Rewound() Session {
	s := turns(Session{ID: "rewound", Events: []Event{
		asks("first"), says("root", ""), asks("second"), calls("root", Calls("adk-lost", "look", `{}`)), {Author: "user"}, asks("third"), says("root", ""),
	}}, 2)
	s.Events[4].Actions.RewindBefore = s.Events[2].Invocation
	for i := 4; i < len(s.Events); i++ {
		s.Events[i].Invocation = "e-00000000-0000-4000-8000-000000000003"
	}
	return s
}

// Ties are events of one time: a call and its answer that are told apart by nothing
// but the order of writing.
func Ties() Session {
	s := Session{ID: "ties", Events: []Event{
		asks("first"), calls("root", Calls("adk-one", "look", `{}`)), calls("root", Answers("adk-one", "look", `{"result":"seen"}`)), says("root", ""),
	}}
	for i := range s.Events {
		s.Events[i].Time = Start
	}
	return s
}

// MixedOffsets is a session that went on in another zone: an hour behind, although
// later.
func MixedOffsets() Session {
	s := turns(Session{ID: "mixed-offsets", Events: []Event{
		asks("first"), says("root", ""), asks("second"), says("root", ""),
	}}, 2).timed()
	for i := range s.Events[:2] {
		s.Events[i].Time = s.Events[i].Time.In(time.FixedZone("", 3600))
	}
	return s
}

// timed gives every event its time.
func (s Session) timed() Session {
	for i := range s.Events {
		s.Events[i].Time = Start.Add(time.Duration(i) * time.Millisecond)
	}
	return s
}

// Shapes of google/adk-python#3470, with its names.

// SequenceOfGroups is a sequence of three parallel groups. Every agent of a later
// group is on a branch of its own, so that it sees nothing of the earlier groups.
func SequenceOfGroups() Session {
	s := Session{ID: "sequence-of-groups", Events: []Event{asks("go")}}
	for _, line := range []string{"P1 Alice Bob Charlie", "P2 David Eve Frank", "P3 Grace Henry Iris"} {
		group, names, _ := strings.Cut(line, " ")
		for name := range strings.FieldsSeq(names) {
			s.Events = append(s.Events, says(name, group+"."+name))
		}
	}
	return s
}

// NestedGroups are two groups with a reducer each, side by side, and a reducer of
// both behind them. The reducers of the groups are on the branch above their
// agents', and so see nothing of what they are to reduce.
func NestedGroups() Session {
	s := Session{ID: "nested-groups", Events: []Event{asks("go")}}
	for _, line := range []string{"Final.Seq1 Reducer1 ABC Alice Bob Charlie", "Final.Seq2 Reducer2 DEF David Eve Frank"} {
		words := strings.Fields(line)
		for _, name := range words[3:] {
			s.Events = append(s.Events, says(name, words[0]+"."+words[2]+"."+name))
		}
		s.Events = append(s.Events, says(words[1], words[0]))
	}
	s.Events = append(s.Events, says("Final_Reducer", ""))
	return s
}

// PrefixNames are two agents side by side of which one's name begins with the
// other's: readers that compare branches as texts show agent_10 what agent_1 said.
func PrefixNames() Session {
	return Session{ID: "prefix-names", Events: []Event{
		asks("go"), says("agent_1", "par.agent_1"), says("agent_10", "par.agent_10"),
	}}
}

func asks(text string) Event { return Event{Author: "user", Parts: []Part{Text(text)}} }

func says(name, branch string) Event {
	return Event{Author: name, Branch: branch, Parts: []Part{Text(name + " says")}}
}

func calls(author string, parts ...Part) Event { return Event{Author: author, Parts: parts} }
