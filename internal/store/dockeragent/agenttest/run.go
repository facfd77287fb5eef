package agenttest

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// run plays a program as the runtime does, and stores what comes of it as its
// persistent layer does, which sees the events of all conversations of the run.
type run struct {
	db      *DB
	program *Program
	root    *Session
	scoped  bool // v1.32.1 and later: streamed and finished messages of other sessions are dropped
	written Written

	streaming *Item // the row of the message that is streaming, in the root's session

	team    []string // everybody who spoke so far
	waiting []event  // tokens of background agents, told at the end of a turn
	pause   func()   // lets other calls of a parallel batch go on; nil outside one
}

// errKilled ends a run without any further event.
var errKilled = errors.New("killed")

// modelError ends the run of one session; its caller goes on.
type modelError string

func (e modelError) Error() string { return string(e) }

// playProgram plays a program into the database.
func playProgram(db *DB, p *Program, scoped bool) (Written, error) {
	r := &run{db: db, program: p, scoped: scoped}
	db.Batch(func() {
		r.root = db.Root(SessionRow{Title: p.Title, ToolsApproved: true})
		r.runTurns()
	})
	r.written.Root = r.root
	for i := range r.written.Leaks {
		if l := &r.written.Leaks[i]; l.home != nil {
			l.Twin = l.home.Row
		}
	}
	return r.written, db.Err()
}

// runTurns runs all turns.
func (r *run) runTurns() {
	killed := true
	for i := range r.program.Turns {
		turn := &r.program.Turns[i]
		if killed || turn.Resumed {
			r.root.agent = cmp.Or(r.program.Agent, "root")
		}
		r.tellOpening(r.root)
		r.root.User(turn.User)
		r.tellEvent("user_message", builder.Object{{"message", turn.User}, {"session_id", r.root.ID}, {"session_position", r.root.countSaid() - 1}})
		killed = errors.Is(r.runConversation(r.root, turn.Steps), errKilled)
		if r.streaming != nil && r.streaming.streamer != r.root { // what was streaming stays as it is
			r.recordLeak(r.streaming, r.streaming.streamer, nil)
		}
		r.streaming = nil
		if turn.Compact != "" && !killed {
			r.writeSummary(r.root, turn.Compact, turn.Keep)
		}
	}
}

// countSaid counts how many items of the root's session are its own, and complete.
func (s *Session) countSaid() (n int) {
	for _, item := range s.items {
		if item.message == nil || item.message.CreatedAt != "" && (item.streamer == nil || item.streamer == s) {
			n++
		}
	}
	return n
}

// runConversation lets the agents of a conversation answer until they have nothing
// more to say, and tells the stream of its start and its end. Where failed
// children are not kept, their stream ends with the error (docker-agent.md 4.1,
// #2255).
func (r *run) runConversation(c *Session, steps []Step) error {
	r.tellEvent("stream_started", builder.Object{{"session_id", c.ID}, {"agent_name", c.agent}})
	err := r.runSteps(c, steps)
	var failed modelError
	switch {
	case err == nil:
		r.tellStopped(c, "normal")
	case errors.As(err, &failed):
		r.emitEvent(event{kind: "error", body: builder.Object{{"session_id", c.ID}, {"error", string(failed)}}, at: noTime})
		if c == r.root || r.program.KeepsFailed {
			r.tellStopped(c, "error")
		}
	}
	return err
}

// runSteps lets the current agent answer until the conversation has nothing more
// to say.
func (r *run) runSteps(c *Session, steps []Step) error {
	for i := range steps {
		s := &steps[i]
		r.tellTools(c)
		if s.Text != "" || s.Reasoning != "" {
			// Without scoping it goes into the root's session, whoever speaks.
			if !r.scoped || c == r.root {
				r.streaming = r.root.Placeholder(c.agent, s.Text, s.Reasoning)
				r.streaming.streamer = c
			}
			r.tellAnswer(c, s)
		}
		switch {
		case s.End == Killed:
			return errKilled
		case s.End == Failed:
			return modelError(s.Error)
		case strings.TrimSpace(s.Text) == "" && len(s.Calls) == 0:
			r.tellTokens(c, nil)
			return nil
		}
		if err := r.runCalls(c, s, r.recordAnswer(c, s)); err != nil {
			return err
		}
	}
	return nil
}

// recordAnswer records the answer of the current agent.
func (r *run) recordAnswer(c *Session, s *Step) *Item {
	m := Message{
		Role: roleAssistant, Content: s.Text, ReasoningContent: s.Reasoning,
		Usage: s.Usage, Model: cmp.Or(r.program.Models[c.agent], modelDefault),
	}
	for i := range s.Calls {
		m.ToolCalls = append(m.ToolCalls, s.Calls[i].toolCall())
	}
	m.ToolDefinitions = Define(m.ToolCalls)
	r.tellCalls(c, m.ToolCalls)
	item := r.recordMessage(c, c.agent, m)
	if s.Usage != nil {
		c.row.InputTokens, c.row.OutputTokens = s.Usage.promptSize(), s.Usage.OutputTokens
		if c == r.root { // the only counters that are stored while a run goes on
			c.Tokens(s.Usage)
		}
	}
	r.tellTokens(c, s.Usage)
	return item
}

// recordMessage records a finished message. It takes the row of what was streaming,
// whoever streamed it; else it gets a row of its own, if the session has one:
// a child's has none before it is complete.
func (r *run) recordMessage(c *Session, agent string, m Message) *Item {
	m.CreatedAt = r.db.nextTime()
	item, row := &Item{session: c, agent: agent, message: &m}, r.streaming
	switch {
	case r.scoped && c != r.root:
		c.items = append(c.items, item)
	case row == nil:
		c.appendItem(item)
	case c != r.root:
		c.items = append(c.items, item)
		row.replaceMessage(&m)
		item.inRoot = row.Row
		r.recordLeak(row, c, item)
	default:
		row.replaceMessage(&m)
		item = row
		if row.streamer != c {
			r.written.Taken = append(r.written.Taken, Taken{row.Row, agent})
			row.streamer = c
		}
	}
	if c == r.root {
		item.inRoot = item.Row
	}
	if c == r.root || !r.scoped {
		r.streaming = nil
	}
	r.tellEvent("message_added", builder.Object{{"session_id", c.ID}, {"agent_name", agent}})
	return item
}

// recordLeak keeps the truth about a row of the root's session that a child streamed, and
// where the message belongs.
func (r *run) recordLeak(row *Item, child *Session, home *Item) {
	leak := Leak{Row: row.Row, Child: child.ID, home: home}
	for c := child; c.caller != nil; c = c.caller {
		leak.Calls = append([]OpenCall{{c.opener.inRoot, c.callID}}, leak.Calls...)
	}
	r.written.Leaks = append(r.written.Leaks, leak)
}

// runCalls runs the calls of an answer. Their results are the caller's, even when
// one of them handed the conversation to somebody else.
func (r *run) runCalls(c *Session, s *Step, opener *Item) (err error) {
	call := func(i int) error { return r.runCall(c, s, i, opener) }
	if s.Parallel {
		err = r.runTogether(len(s.Calls), call)
	} else {
		for i := 0; i < len(s.Calls) && err == nil; i++ {
			err = call(i)
		}
	}
	if err == nil && s.Summary != "" {
		r.writeSummary(c, s.Summary, s.Keep)
	}
	return err
}

// runCall runs one call of an answer. The error is errKilled.
func (r *run) runCall(c *Session, s *Step, i int, opener *Item) error {
	call := &s.Calls[i]
	wire := &opener.message.ToolCalls[i]
	about := builder.Object{{"tool_call", wire}, {"tool_definition", Define([]ToolCall{*wire})[0]}}
	speaker := builder.Member{"agent_name", opener.agent}
	r.tellEvent("tool_call", append(slices.Clone(about), speaker))
	m, err := r.dispatchCall(c, call, opener, s.hasSiblings())
	if err != nil {
		return err
	}
	result := builder.Object{{"output", m.Content}, {"isError", builder.OrNil(m.IsError)}}.WithoutEmpty()
	r.emitEvent(event{kind: "tool_call_response", call: wire, body: append(about, builder.Object{{"response", m.Content}, {"result", result}, speaker}...)})
	if s.Summary != "" && i == len(s.Calls)-1 && !c.stored && c.caller.stored {
		// The compaction stores the session's row while the last result
		// is still on its way to the store (docs/stores/docker-agent.md#which-versions-leak).
		c.storeRow()
	}
	r.recordMessage(c, opener.agent, m)
	return nil
}

// dispatchCall runs one call and returns its result. The error is errKilled.
func (r *run) dispatchCall(c *Session, call *Call, opener *Item, siblings bool) (Message, error) {
	m := Message{Role: roleTool, ToolCallID: call.ID, IsError: call.IsError}
	switch {
	case call.Task != nil && call.Task.Background:
		// A session of which only the tokens are told, and late.
		r.waiting = append(r.waiting, event{kind: "token_usage", body: builder.Object{
			{"session_id", r.db.newID()}, {"usage", tokenCounts(40, 2)}, {"agent_name", call.Task.Agent},
		}})
		m.Content = inBackground
	case call.Task != nil:
		answer, err := r.runChild(c, call, opener, siblings)
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

// runChild runs a child and returns its last answer.
func (r *run) runChild(c *Session, call *Call, opener *Item, siblings bool) (string, error) {
	child := r.newChild(c, call, opener)
	child.pinned = c.pinned || siblings
	switches := call.Task.Skill == "" && !child.pinned
	if switches {
		r.tellSwitch(true, c.agent, child.agent)
	}
	r.tellOpening(child)
	err := r.runConversation(child, call.Task.Steps)
	if errors.Is(err, errKilled) {
		return "", err
	}
	if err == nil || r.program.KeepsFailed {
		r.storeCompleted(c, child)
	}
	if switches {
		r.tellSwitch(false, call.Task.Agent, c.agent)
	}
	answer, _ := child.lastAnswer()
	return answer, err
}

// newChild is the conversation that a delegation starts, with the two messages
// that the runtime begins it with (docker-agent.md 3.1).
func (r *run) newChild(c *Session, call *Call, opener *Item) *Session {
	task := call.Task
	child := r.db.newSession(SessionRow{Title: childTitle, ToolsApproved: c.row.ToolsApproved, Parent: c.ID})
	child.caller, child.opener, child.callID, child.agent = c, opener, call.ID, task.Agent
	if task.Skill == "" {
		child.Prologue(task.Text, task.ExpectedOutput)
		return child
	}
	child.agent, child.row.Title = c.agent, skillTitle+task.Skill
	child.System("This is how to do it.")
	child.ImplicitUser(task.Text)
	return child
}

// storeCompleted stores a child with everything below it. It fails, and the runtime
// only warns, when the caller has no row yet (it stores the child later, with
// itself) or when a compaction stored the child's row already.
func (r *run) storeCompleted(c, child *Session) {
	switch {
	case !c.stored:
		c.SubSession(child)
	case !child.anyStored():
		child.saveTree()
		c.SubSession(child)
	case c != r.root:
		c.items = append(c.items, &Item{child: child})
	}
	r.tellEvent("sub_session_completed", builder.Object{{"parent_session_id", c.ID}, {"sub_session", r.db.subSession(child)}, {"agent_name", c.agent}})
}

func (s *Session) anyStored() bool {
	return s.stored || slices.ContainsFunc(s.items, func(i *Item) bool { return i.child != nil && i.child.anyStored() })
}

// writeSummary writes a summary of a conversation, which no version drops, as the runtime
// does since v1.41.0: with the index of the first entry that it keeps, in the list that
// it loads.
func (r *run) writeSummary(c *Session, text string, keep int) {
	s := &Summary{Text: text}
	if c.stored && r.db.Generation >= withKept {
		s.FirstKept = c.firstKept(keep, r.program.Unstored)
	}
	c.appendItem(&Item{summary: s})
	r.tellEvent("session_compaction", builder.Object{{"session_id", c.ID}, {"status", "started"}, {"agent_name", c.agent}})
	r.tellEvent("session_summary", builder.Object{
		{"session_id", c.ID}, {"summary", text}, {"first_kept_entry", builder.OrNil(s.FirstKept)}, {"agent_name", c.agent},
	})
	r.tellEvent("session_compaction", builder.Object{{"session_id", c.ID}, {"status", "completed"}, {"agent_name", c.agent}})
}

// firstKept is where a tail of at least so many messages starts: at what the user or an
// agent said, behind the first message of the last request, and never in what a
// summary covers (v1.55.0; releases before got that wrong). Where nothing is kept it is
// the length of the list, and so the place of the summary itself.
func (s *Session) firstKept(keep, unstored int) int64 {
	first, nothing := 1, int64(len(s.items)+unstored)
	for i, item := range s.items {
		if item.summary != nil {
			first = i + 1
			if kept := int(item.summary.FirstKept); kept > 0 && kept < i {
				first = kept
			}
		}
	}
	if keep == 0 {
		return nothing
	}
	for i := len(s.items) - 1; i >= first; i-- {
		m := s.items[i].message
		if m == nil || m.Role == roleSystem {
			continue
		}
		if keep--; keep <= 0 && m.Role != roleTool {
			return int64(i)
		}
	}
	return nothing
}

// lane is one of several calls that run at the same time.
type lane struct {
	next  func() (struct{}, bool) // lets it go on until its next event; false when it has ended
	pause func()                  // called inside it, hands over to the others
	err   error
}

// runTogether runs calls at the same time: now one goes on to its next event, now
// another, as the seed of the database has it. All come to their end.
func (r *run) runTogether(n int, call func(int) error) error {
	var lanes []*lane
	for i := range n {
		l := &lane{}
		l.next, _ = iter.Pull(func(yield func(struct{}) bool) {
			l.pause = func() { yield(struct{}{}) }
			r.pause = l.pause
			l.err = call(i)
		})
		lanes = append(lanes, l)
	}
	var err error
	for outer := r.pause; len(lanes) > 0; {
		i := r.db.rng.IntN(len(lanes))
		l := lanes[i]
		r.pause = l.pause
		if _, goesOn := l.next(); !goesOn {
			lanes = slices.Delete(lanes, i, i+1)
			err = errors.Join(err, l.err)
		}
		if r.pause = outer; outer != nil {
			outer() // what runs beside this batch goes on as well
		}
	}
	return err
}

// lastAnswer is the text of the last answer, which may be a grandchild's: the
// runtime looks through all messages below the session.
func (s *Session) lastAnswer() (string, bool) {
	for _, item := range slices.Backward(s.items) {
		if item.message != nil && item.message.Role == roleAssistant {
			return strings.TrimSpace(item.message.Content), true
		}
		if item.child != nil {
			if answer, ok := item.child.lastAnswer(); ok {
				return answer, true
			}
		}
	}
	return "", false
}

// hasSiblings reports whether several delegations of the step run at the same
// time: then none may change the runtime's current agent, and none emits a
// switch (docker-agent#4156).
func (s *Step) hasSiblings() bool {
	n := 0
	for i := range s.Calls {
		if task := s.Calls[i].Task; task != nil && task.Skill == "" && !task.Background {
			n++
		}
	}
	return s.Parallel && n > 1
}
