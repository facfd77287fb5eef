package kagenttest

// Programs with persons who are asked, and with runtimes that keep no invocations.

// PendingApproval is a collapse of which one run waits for a person.
func PendingApproval() Program {
	waits := asks(Worker, "Apply the manifest")
	waits.Approval = Waiting
	return Program{Name: "pending-approval", Conversations: []Conversation{{
		Turns: []Turn{delegating("Apply and list", waits, asks(Worker, "List the pods"))},
	}}}
}

// ApprovalGiven is the same after the person agreed: the call has two responses.
func ApprovalGiven() Program {
	p := PendingApproval()
	p.Name = "approval-given"
	p.Conversations[0].Turns[0].Work[0][0].Approval = Approved
	return p
}

// ApprovalsGiven is a collapse of which several runs waited, not the first one among
// them: their callers' questions name a session that a split gives them no longer.
func ApprovalsGiven() Program {
	batch := []Call{asks(Worker, "List the pods")}
	for _, what := range []string{"Apply the manifest", "Delete the volume"} {
		waits := asks(Worker, what)
		waits.Approval = Approved
		batch = append(batch, waits)
	}
	return Program{Name: "approvals-given", Conversations: []Conversation{{Turns: []Turn{delegating("Apply, delete and list", batch...)}}}}
}

// LangGraphWorker is a collapse in a worker whose state is in checkpoints.
func LangGraphWorker() Program { return collapsedIn("langgraph-worker", LangGraph) }

// CrewAIWorker is a collapse in a worker whose state is that of a flow.
func CrewAIWorker() Program { return collapsedIn("crewai-worker", CrewAI) }

// OpenAIWorker is a collapse in a worker whose events name no invocations.
func OpenAIWorker() Program { return collapsedIn("openai-worker", OpenAI) }

func collapsedIn(name string, d Dialect) Program {
	left, right := asks(Worker, "Look left"), asks(Worker, "Look right – naïvely")
	left.Work, right.Work = tools("left"), tools("right")
	return Program{
		Name: name, Writers: map[string]Dialect{Worker: d},
		Conversations: []Conversation{{Turns: []Turn{delegating("Look around", left, right)}}},
	}
}
