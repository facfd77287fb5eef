package adktest

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
