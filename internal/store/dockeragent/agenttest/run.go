package agenttest

import (
	"errors"
	"strings"
)

// conversation is a session in the memory of the runtime, where it is always
// right; what of it reaches the store is up to the recorder.
type conversation struct {
	row     SessionRow
	entries []*entry
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

// run plays a program as the runtime does.
type run struct {
	db      *DB
	program *Program
	record  *recorder
	root    *conversation
	current string // the agent that answers next
}

// errKilled ends a run without any further event.
var errKilled = errors.New("killed")

// modelError ends the run of one session; its caller goes on.
type modelError string

func (e modelError) Error() string { return string(e) }

// play runs all turns.
func (r *run) play() {
	entryAgent := or(r.program.Agent, "root")
	killed := true
	for i := range r.program.Turns {
		turn := &r.program.Turns[i]
		if killed || turn.Resumed {
			r.current = entryAgent
		}
		r.record.user(r.root.add(r.message("", Message{Role: roleUser, Content: turn.User})))
		killed = errors.Is(r.steps(r.root, turn.Steps), errKilled)
		r.record.stop()
	}
}

func (r *run) message(agent string, m Message) *entry {
	m.CreatedAt = r.db.tick()
	return &entry{agent: agent, message: &m}
}

// steps lets the current agent answer in a conversation until it has nothing
// more to say.
func (r *run) steps(c *conversation, steps []Step) error {
	for i := range steps {
		s := &steps[i]
		if s.Text != "" || s.Reasoning != "" {
			r.record.streamed(c, r.current, s.Text, s.Reasoning)
		}
		switch {
		case s.End == Killed:
			return errKilled
		case s.End == Failed:
			return modelError(s.Error)
		case strings.TrimSpace(s.Text) == "" && len(s.Calls) == 0:
			return nil
		}
		if err := r.calls(c, s, r.answer(c, s)); err != nil {
			return err
		}
	}
	return nil
}

// answer records the answer of the current agent.
func (r *run) answer(c *conversation, s *Step) *entry {
	m := Message{
		Role: roleAssistant, Content: s.Text, ReasoningContent: s.Reasoning,
		Usage: s.Usage, Model: or(r.program.Models[r.current], modelDefault),
	}
	for i := range s.Calls {
		m.ToolCalls = append(m.ToolCalls, s.Calls[i].toolCall())
	}
	m.ToolDefinitions = Define(m.ToolCalls)
	e := c.add(r.message(r.current, m))
	r.record.added(c, e)
	if s.Usage != nil {
		c.row.InputTokens, c.row.OutputTokens = s.Usage.prompt(), s.Usage.OutputTokens
		r.record.tokens(c, s.Usage)
	}
	return e
}

// calls runs the calls of an answer one after another. Their results are the
// caller's, even when one of them handed the conversation to somebody else.
func (r *run) calls(c *conversation, s *Step, opener *entry) error {
	for i := range s.Calls {
		call := &s.Calls[i]
		m, err := r.dispatch(c, call, opener)
		if err != nil {
			return err
		}
		if s.Summary != "" && i == len(s.Calls)-1 {
			// The compaction stores the session's row while the last result
			// is still on its way to the store (docker-agent.md 4.2 C).
			r.record.compacting(c)
		}
		r.record.added(c, c.add(r.message(opener.agent, m)))
	}
	if s.Summary != "" {
		r.record.summarized(c, c.add(&entry{summary: &Summary{Text: s.Summary}}))
	}
	return nil
}

// dispatch runs one call and returns its result. The error is errKilled.
func (r *run) dispatch(c *conversation, call *Call, opener *entry) (Message, error) {
	m := Message{Role: roleTool, ToolCallID: call.ID, IsError: call.IsError}
	switch {
	case call.Task != nil:
		answer, err := r.delegate(c, call, opener)
		var failed modelError
		if errors.As(err, &failed) {
			answer, m.IsError = callFailed+failed.Error(), true
		} else if err != nil {
			return m, err
		}
		m.Content = answer
	case call.Killed:
		return m, errKilled
	case call.To != "":
		m.Content = handoffText(opener.agent)
		r.current = call.To
	default:
		m.Content = call.Output
	}
	if strings.TrimSpace(m.Content) == "" {
		m.Content = noOutput
	}
	return m, nil
}

// delegate runs a child and returns its last answer.
func (r *run) delegate(c *conversation, call *Call, opener *entry) (string, error) {
	caller := r.current
	defer func() { r.current = caller }()
	r.current = call.Task.Agent
	child := &conversation{caller: c, opener: opener, callID: call.ID, row: SessionRow{
		ID: r.db.newID(), CreatedAt: r.db.now, Title: childTitle, ToolsApproved: c.row.ToolsApproved, Parent: c.row.ID,
	}}
	child.add(r.message("", Message{Role: roleSystem, Content: taskText(call.Task.Text, call.Task.ExpectedOutput)}))
	child.add(r.message("", Message{Role: roleUser, Content: childStart})).implicit = true
	if err := r.steps(child, call.Task.Steps); err != nil {
		return "", err
	}
	c.add(&entry{child: child})
	r.record.completed(c, child)
	answer, _ := child.lastAnswer()
	return answer, nil
}
