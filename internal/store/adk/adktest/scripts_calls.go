package adktest

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
