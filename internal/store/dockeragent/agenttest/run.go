package agenttest

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"
)

// run plays a program as the runtime does.
type run struct {
	db      *DB
	program *Program
	record  *recorder
	stream  *stream
	root    *conversation
}

// errKilled ends a run without any further event.
var errKilled = errors.New("killed")

// modelError ends the run of one session; its caller goes on.
type modelError string

func (e modelError) Error() string { return string(e) }

// play runs all turns.
func (r *run) play() {
	entryAgent := cmp.Or(r.program.Agent, "root")
	killed := true
	for i := range r.program.Turns {
		turn := &r.program.Turns[i]
		if killed || turn.Resumed {
			r.root.agent = entryAgent
		}
		r.stream.opening(r.root)
		r.record.user(r.root.add(r.message("", Message{Role: roleUser, Content: turn.User})))
		r.stream.user(r.root, turn.User)
		killed = errors.Is(r.converse(r.root, turn.Steps), errKilled)
		r.record.stop()
		if turn.Compact != "" && !killed {
			r.compact(r.root, turn.Compact, turn.Keep)
		}
	}
}

func (r *run) message(agent string, m Message) *entry {
	m.CreatedAt = r.db.tick()
	return &entry{agent: agent, message: &m}
}

// converse lets the agents of a conversation answer until they have nothing
// more to say, and tells the stream of its start and its end. Where failed
// children are not kept, their stream ends with the error (docker-agent.md 4.1,
// #2255).
func (r *run) converse(c *conversation, steps []Step) error {
	r.stream.started(c)
	err := r.steps(c, steps)
	var failed modelError
	switch {
	case err == nil:
		r.stream.stopped(c, "normal")
	case errors.As(err, &failed):
		r.stream.failed(c, failed)
		if c == r.root || r.program.KeepsFailed {
			r.stream.stopped(c, "error")
		}
	}
	return err
}

// steps lets the current agent answer until the conversation has nothing more
// to say.
func (r *run) steps(c *conversation, steps []Step) error {
	for i := range steps {
		s := &steps[i]
		r.stream.tools(c)
		if s.Text != "" || s.Reasoning != "" {
			r.record.streamed(c, c.agent, s.Text, s.Reasoning)
			r.stream.answering(c, s)
		}
		switch {
		case s.End == Killed:
			return errKilled
		case s.End == Failed:
			return modelError(s.Error)
		case strings.TrimSpace(s.Text) == "" && len(s.Calls) == 0:
			r.stream.tokens(c, nil)
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
		Usage: s.Usage, Model: cmp.Or(r.program.Models[c.agent], modelDefault),
	}
	for i := range s.Calls {
		m.ToolCalls = append(m.ToolCalls, s.Calls[i].toolCall())
	}
	m.ToolDefinitions = Define(m.ToolCalls)
	r.stream.calling(c, m.ToolCalls)
	e := c.add(r.message(c.agent, m))
	r.record.added(c, e)
	r.stream.added(c, e)
	if s.Usage != nil {
		c.row.InputTokens, c.row.OutputTokens = s.Usage.prompt(), s.Usage.OutputTokens
		r.record.tokens(c, s.Usage)
	}
	r.stream.tokens(c, s.Usage)
	return e
}

// calls runs the calls of an answer. Their results are the caller's, even when
// one of them handed the conversation to somebody else.
func (r *run) calls(c *conversation, s *Step, opener *entry) error {
	inTurn := r.oneByOne
	if s.Parallel {
		inTurn = r.together
	}
	err := inTurn(len(s.Calls), func(i int) error { return r.call(c, s, i, opener) })
	if err == nil && s.Summary != "" {
		r.compact(c, s.Summary, s.Keep)
	}
	return err
}

// oneByOne runs calls one after another.
func (r *run) oneByOne(n int, call func(int) error) error {
	for i := range n {
		if err := call(i); err != nil {
			return err
		}
	}
	return nil
}

// call runs one call of an answer. The error is errKilled.
func (r *run) call(c *conversation, s *Step, i int, opener *entry) error {
	call := &s.Calls[i]
	wire := &opener.message.ToolCalls[i]
	r.stream.call(opener.agent, wire)
	m, err := r.dispatch(c, call, opener, s.siblings())
	if err != nil {
		return err
	}
	r.stream.response(opener.agent, wire, &m)
	if s.Summary != "" && i == len(s.Calls)-1 {
		// The compaction stores the session's row while the last result
		// is still on its way to the store (docs/stores/docker-agent.md#which-versions-leak).
		r.record.compacting(c)
	}
	e := c.add(r.message(opener.agent, m))
	r.record.added(c, e)
	r.stream.added(c, e)
	return nil
}

// dispatch runs one call and returns its result. The error is errKilled.
func (r *run) dispatch(c *conversation, call *Call, opener *entry, siblings bool) (Message, error) {
	m := Message{Role: roleTool, ToolCallID: call.ID, IsError: call.IsError}
	switch {
	case call.Task != nil && call.Task.Background:
		r.stream.background(r.db.newID(), call.Task.Agent)
		m.Content = inBackground
	case call.Task != nil:
		answer, err := r.delegate(c, call, opener, siblings)
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
		c.agent = call.To
	default:
		m.Content = call.Output
	}
	if strings.TrimSpace(m.Content) == "" {
		m.Content = noOutput
	}
	return m, nil
}

// delegate runs a child and returns its last answer.
func (r *run) delegate(c *conversation, call *Call, opener *entry, siblings bool) (string, error) {
	child := r.child(c, call, opener)
	child.pinned = c.pinned || siblings
	switches := call.Task.Skill == "" && !child.pinned
	if switches {
		r.stream.switched(true, c.agent, child.agent)
	}
	r.stream.opening(child)
	err := r.converse(child, call.Task.Steps)
	if errors.Is(err, errKilled) {
		return "", err
	}
	if err == nil || r.program.KeepsFailed {
		c.add(&entry{child: child})
		r.record.completed(c, child)
		r.stream.completed(c, child)
	}
	if switches {
		r.stream.switched(false, call.Task.Agent, c.agent)
	}
	answer, _ := child.lastAnswer()
	return answer, err
}

// child is the conversation that a delegation starts, with the two messages
// that the runtime begins it with (docker-agent.md 3.1).
func (r *run) child(c *conversation, call *Call, opener *entry) *conversation {
	task := call.Task
	child := &conversation{caller: c, opener: opener, callID: call.ID, agent: task.Agent, row: SessionRow{
		ID: r.db.newID(), CreatedAt: r.db.now, Title: childTitle, ToolsApproved: c.row.ToolsApproved, Parent: c.row.ID,
	}}
	system, user := taskText(task.Text, task.ExpectedOutput), childStart
	if task.Skill != "" {
		child.agent, child.row.Title = c.agent, skillTitle+task.Skill
		system, user = "This is how to do it.", task.Text
	}
	child.add(r.message("", Message{Role: roleSystem, Content: system}))
	child.add(r.message("", Message{Role: roleUser, Content: user})).implicit = true
	return child
}

// lane is one of several calls that run at the same time.
type lane struct {
	next  func() (struct{}, bool) // lets it go on until its next event; false when it has ended
	pause func()                  // called inside it, hands over to the others
	err   error
}

// together runs calls at the same time: now one goes on to its next event, now
// another, as the seed of the database has it. All come to their end.
func (r *run) together(n int, call func(int) error) error {
	var lanes []*lane
	for i := range n {
		l := &lane{}
		l.next, _ = iter.Pull(func(yield func(struct{}) bool) {
			l.pause = func() { yield(struct{}{}) }
			r.stream.pause = l.pause
			l.err = call(i)
		})
		lanes = append(lanes, l)
	}
	var err error
	for outer := r.stream.pause; len(lanes) > 0; {
		i := r.db.rng.IntN(len(lanes))
		l := lanes[i]
		r.stream.pause = l.pause
		if _, goesOn := l.next(); !goesOn {
			lanes = slices.Delete(lanes, i, i+1)
			err = errors.Join(err, l.err)
		}
		if r.stream.pause = outer; outer != nil {
			outer() // what runs beside this batch goes on as well
		}
	}
	return err
}

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
