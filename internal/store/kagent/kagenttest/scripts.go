package kagenttest

import (
	"fmt"
	"slices"
)

// Scripts are the programs of this file and its neighbours.
func Scripts() []Program {
	return []Program{
		Collapsed11(), Isolated(), Sequential(), WithinRequest(), MixedUsers(), PodShared(), EqualRequests(), CrossIDs(),
		PendingApproval(), ApprovalGiven(), ApprovalsGiven(), LangGraphWorker(), CrewAIWorker(), OpenAIWorker(), Nested(),
		Interrupted(), PartlyAnswered(), PlainResponses(), Failed(), External(), MissingWorker(), DeletedWorker(),
		Orphans(), OtherUser(), MixedDialect(), StuckTask(), Ties(),
	}
}

var clusters = []string{
	"eu-1", "eu-2", "eu-3", "eu-4", "us-1", "us-2", "us-3", "ap-1", "ap-2", "sa-1", "af-1",
}

// Collapsed11 is kagent-dev/kagent#2137: one turn calls a worker eleven times, and all
// of them run in one session.
func Collapsed11() Program { return eleven("collapsed-11", PerRequest) }

// Isolated is the same with isolateSessions: eleven sessions, nothing to find.
func Isolated() Program { return eleven("isolated", PerCall) }

func eleven(name string, sharing Sharing) Program {
	var batch []Call
	for _, cluster := range clusters {
		batch = append(batch, Call{
			Agent: Worker, Ask: "Check the pods of cluster " + cluster, Answer: "All pods of " + cluster + " are <running> & ready",
			Work: tools("pods of " + cluster),
		})
	}
	return Program{Name: name, Sharing: sharing, Conversations: []Conversation{{
		Turns: []Turn{{Ask: "Check all clusters", Work: [][]Call{batch}, Answer: "All eleven clusters are fine"}},
	}}}
}

// Sequential is a worker that keeps its session over the turns of one conversation,
// one call behind the other: the documented default.
func Sequential() Program {
	var turns []Turn
	for _, what := range []string{"pods", "nodes", "volumes"} {
		turns = append(turns, delegating("Look at the "+what, asks(Worker, "List the "+what)))
	}
	return Program{Name: "sequential", Sharing: PerPod, Conversations: []Conversation{{Turns: turns}}}
}

// WithinRequest is a worker that two turns of the model within one request call.
func WithinRequest() Program {
	turn := delegating("Look twice", asks(Worker, "First look"))
	turn.Work = append(turn.Work, []Call{asks(Worker, "Second look")})
	return Program{Name: "within-request", Conversations: []Conversation{{Turns: []Turn{turn}}}}
}

// MixedUsers is a pod that gives two users' calls one session id (#2538): two rows of
// session, and tasks that only their owner tells apart.
func MixedUsers() Program {
	return Program{Name: "mixed-users", Sharing: PerPod, Conversations: []Conversation{
		{User: "anna@example.com", Turns: []Turn{delegating("My pods?", asks(Worker, "Pods of Anna"))}},
		{User: "bert@example.com", Turns: []Turn{delegating("My pods?", asks(Worker, "Pods of Bert"))}},
	}}
}

// PodShared are two conversations of one user whose calls get one session, at the
// same time.
func PodShared() Program {
	return Program{Name: "pod-shared", Sharing: PerPod, Conversations: []Conversation{
		{Turns: []Turn{delegating("Check the nodes", asks(Worker, "List the nodes"))}},
		{Turns: []Turn{delegating("Check the volumes", asks(Worker, "List the volumes"))}, Beside: true},
	}}
}

// EqualRequests are calls of one turn that nothing tells apart but their order.
func EqualRequests() Program {
	same := asks(Worker, "Restart a pod")
	return Program{Name: "equal-requests", Conversations: []Conversation{{
		Turns: []Turn{delegating("Restart three pods", same, same, same, asks(Worker, "List the pods"))},
	}}}
}

// CrossIDs is a collapse in which one invocation answers a call of another one, so
// that they cannot be parted.
func CrossIDs() Program {
	left, right := asks(Worker, "Look left"), asks(Worker, "Look right")
	left.Work = [][]Call{{{ID: "call_of_the_left", Tool: "look", Answer: "left"}}}
	right.Work = [][]Call{{{ID: "call_of_the_right", Tool: "look", Answer: "right"}}}
	return Program{
		Name: "cross-ids", Conversations: []Conversation{{Turns: []Turn{delegating("Look around", left, right)}}},
		After: func(w *Written) []string {
			answer := w.Calls[1].Events[2] // behind the request and the call
			return []string{fmt.Sprintf("UPDATE event SET data = replace(data, 'call_of_the_right', 'call_of_the_left') WHERE id = '%s'", answer)}
		},
	}
}

// Nested is a worker that calls a worker, which calls a third one.
func Nested() Program {
	istio := asks(Istio, "Show the gateway")
	helm := asks(Helm, "Show the releases", istio)
	return Program{Name: "nested", Conversations: []Conversation{{
		Turns: []Turn{delegating("Look deep", asks(Worker, "Look deeper", helm), asks(Worker, "Look aside"))},
	}}}
}

func tools(answer string) [][]Call { return [][]Call{{{Tool: "k8s_get_resources", Answer: answer}}} }

// asks is a call of a worker, which does work and answers.
func asks(agent, request string, work ...Call) Call {
	c := Call{Agent: agent, Ask: request, Answer: "Done: " + request}
	if len(work) > 0 {
		c.Work = [][]Call{slices.Clone(work)}
	}
	return c
}

// delegating is a turn with one batch of calls.
func delegating(request string, batch ...Call) Turn {
	return Turn{Ask: request, Work: [][]Call{batch}, Answer: "Reported: " + request}
}

// Damage of the notes, by the letters and numbers that they have there.

// Interrupted is K1: the caller ended before a response was stored, and the user went on.
func Interrupted() Program {
	lost := asks(Worker, "List the pods")
	lost.Lost = true
	return Program{Name: "interrupted", Conversations: []Conversation{{Turns: []Turn{
		delegating("Check the pods", lost), {Ask: "Are you there?", Answer: "Yes"},
	}}}}
}

// PartlyAnswered is K10: of two calls of one event, one has no response.
func PartlyAnswered() Program {
	lost := asks(Worker, "List the pods")
	lost.Lost = true
	return Program{Name: "partly-answered", Conversations: []Conversation{{Turns: []Turn{
		delegating("Check the pods", lost, asks(Helm, "List the releases")), {Ask: "Are you there?", Answer: "Yes"},
	}}}}
}

// PlainResponses are those of older Python runtimes: the text, and not the session.
func PlainResponses() Program {
	c := asks(Worker, "List the pods")
	c.Plain = true
	return Program{Name: "plain-responses", Conversations: []Conversation{{Turns: []Turn{delegating("Check the pods", c)}}}}
}

// Failed is K13: errors instead of a run, which name no session.
func Failed() Program {
	return Program{Name: "failed", Conversations: []Conversation{{Turns: []Turn{delegating("Check the pods",
		Call{Agent: Worker, Ask: "List the pods", Error: "missing required argument: request"},
		Call{Agent: Worker, Ask: "List the nodes", Error: "Remote agent request failed: connection refused", Plain: true},
	)}}}}
}

// External is a worker of another installation.
func External() Program {
	return Program{Name: "external", Elsewhere: []string{Istio}, Conversations: []Conversation{{
		Turns: []Turn{delegating("Check the mesh", asks(Istio, "Show the gateway"), asks(Worker, "List the pods"))},
	}}}
}

// MissingWorker is K14 after the retention: nothing is left of the worker's session.
func MissingWorker() Program {
	return one("missing-worker", func(c Worked) []string {
		return []string{
			fmt.Sprintf("DELETE FROM event WHERE session_id = '%s'", c.Child),
			fmt.Sprintf("DELETE FROM task WHERE session_id = '%s'", c.Child),
			fmt.Sprintf("DELETE FROM session WHERE id = '%s'", c.Child),
		}
	})
}

// DeletedWorker is K14 after a deletion, which leaves events and tasks in place.
func DeletedWorker() Program {
	return one("deleted-worker", func(c Worked) []string {
		return []string{fmt.Sprintf("UPDATE session SET deleted_at = updated_at WHERE id = '%s'", c.Child)}
	})
}

// StuckTask is K2: the worker answered, and its task never learned of it.
func StuckTask() Program {
	return one("stuck-task", func(c Worked) []string {
		return []string{fmt.Sprintf("UPDATE task SET data = replace(replace(data, 'TASK_STATE_COMPLETED', 'TASK_STATE_WORKING'), 'completed', 'working') WHERE id = '%s'", c.Task)}
	})
}

// Orphans is K8: events and a task whose session has no row, and an event of none.
func Orphans() Program {
	return one("orphans", func(c Worked) []string {
		return []string{
			fmt.Sprintf("DELETE FROM session WHERE id = '%s'", c.Child),
			fmt.Sprintf("UPDATE event SET session_id = NULL WHERE id = '%s'", c.Events[0]),
		}
	})
}

// OtherUser is K4: the session is the default user's, and its events are those of a
// user that the runtime made up.
func OtherUser() Program {
	return one("other-user", func(c Worked) []string {
		return []string{fmt.Sprintf("UPDATE event SET user_id = 'A2A_USER_' || session_id WHERE session_id = '%s'", c.Child)}
	})
}

// Ties is K12: events of one time, whose order only their documents tell.
func Ties() Program {
	return one("ties", func(c Worked) []string {
		return []string{
			fmt.Sprintf("UPDATE event SET created_at = (SELECT max(created_at) FROM event WHERE session_id = '%s') WHERE session_id = '%[1]s'", c.Child),
		}
	})
}

// MixedDialect is K9: the agent got another runtime between two turns.
func MixedDialect() Program {
	turns := []Turn{{Ask: "Hello", Answer: "Hi"}, {Ask: "And now?", Answer: "Fine"}}
	turns[0].Writer, turns[1].Writer = Python, Go1
	return Program{Name: "mixed-dialect", Conversations: []Conversation{{Turns: turns}}}
}

// one is a conversation with one call, of which after makes damage.
func one(name string, after func(Worked) []string) Program {
	return Program{
		Name: name, Conversations: []Conversation{{Turns: []Turn{delegating("Check the pods", asks(Worker, "List the pods"))}}},
		After: func(w *Written) []string { return after(w.Calls[0]) },
	}
}

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
