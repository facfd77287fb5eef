package agenttest

import "strings"

// conversation is a session in the memory of the runtime, where it is always
// right; what of it reaches the store is up to the recorder.
type conversation struct {
	row     SessionRow
	entries []*entry
	agent   string        // who answers next
	pinned  bool          // the runtime's current agent is not its own, so that it switches none
	caller  *conversation // nil for the root
	opener  *entry        // the caller's message with the call that started this
	callID  string
}

// entry is one item of a conversation.
type entry struct {
	agent    string
	implicit bool
	message  *Message
	child    *conversation
	summary  *Summary

	stored *Item // the row in the conversation's own session
	inRoot *Item // the row in the session of the run: the same for the root, a leaked one for a child
}

func (c *conversation) add(e *entry) *entry {
	c.entries = append(c.entries, e)
	return e
}

// lastAnswer is the text of the last answer, which may be a grandchild's: the
// runtime looks through all messages below the session.
func (c *conversation) lastAnswer() (string, bool) {
	for i := len(c.entries) - 1; i >= 0; i-- {
		e := c.entries[i]
		if e.message != nil && e.message.Role == roleAssistant {
			return strings.TrimSpace(e.message.Content), true
		}
		if e.child != nil {
			if answer, ok := e.child.lastAnswer(); ok {
				return answer, true
			}
		}
	}
	return "", false
}

// siblings reports whether several delegations of the step run at the same
// time: then none may change the runtime's current agent, and none emits a
// switch (docker-agent#4156).
func (s *Step) siblings() bool {
	n := 0
	for i := range s.Calls {
		if task := s.Calls[i].Task; task != nil && task.Skill == "" && !task.Background {
			n++
		}
	}
	return s.Parallel && n > 1
}
