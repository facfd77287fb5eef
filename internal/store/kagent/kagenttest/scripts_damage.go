package kagenttest

import "fmt"

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
