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
