package agenttest

// Program is what a user and a team of agents do in one session.
type Program struct {
	Title  string
	Agent  string            // the agent that answers first, "" for root
	Models map[string]string // the model of an agent, where it is not test/mock
	Turns  []Turn
}

// Turn is what the user says and how the agents answer.
type Turn struct {
	User string
	// Resumed: the process was started again, so the program's first agent
	// answers even if the conversation had been handed off. A turn after a
	// kill is always resumed.
	Resumed bool
	Steps   []Step
}

// Step is one answer of a model, and what came of its calls. An answer with
// neither text nor calls ends the run of its session; the runtime records no
// message for it.
type Step struct {
	Text      string
	Reasoning string
	Calls     []Call
	Usage     *Usage
	End       End
	Error     string // with Failed: what the model said
	Summary   string // the session is compacted after the results of this step
}

// End is what stops a step while the model answers.
type End uint8

// The ends of a step. Text and reasoning were streamed before it.
const (
	Whole  End = iota // the answer is complete
	Failed            // the model fails
	Killed            // the process dies
)

// Call is one call of a step: an ordinary tool, a delegation (Task) or a
// handoff (To).
type Call struct {
	ID      string
	Tool    string
	Args    string // JSON
	Output  string // "" becomes (no output)
	IsError bool

	Task   *Task
	To     string // the agent that goes on
	Killed bool   // the process dies while the tool runs; a task dies in one of its steps
}

// Task is a delegation and what the child does.
type Task struct {
	Agent          string
	Text           string
	ExpectedOutput string
	Steps          []Step
}

// toolCall is the call as the model wrote it.
func (c *Call) toolCall() ToolCall {
	switch {
	case c.Task != nil:
		return Transfer(c.ID, c.Task.Agent, c.Task.Text, c.Task.ExpectedOutput)
	case c.To != "":
		return HandOff(c.ID, c.To)
	}
	return CallTool(c.ID, c.Tool, c.Args)
}
