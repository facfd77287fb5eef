package agenttest

// Program is what a user and a team of agents do in one session.
type Program struct {
	Title  string
	Agent  string            // the agent that answers first, "" for root
	Models map[string]string // the model of an agent, where it is not test/mock
	Turns  []Turn

	// Unstored is how many messages the runtime's list in memory has in front that it
	// does not store (v1.41 to v1.52: the context of a session_start hook): so much
	// higher is what a summary that keeps nothing records.
	Unstored int

	// KeepsFailed: a child that failed is told and stored like any other, as
	// since 2026-06-16 (docker-agent.md 3.3, #3152). Before, nothing was kept.
	KeepsFailed bool
}

// Turn is what the user says and how the agents answer.
type Turn struct {
	User string
	// Resumed: the process was started again, so the program's first agent
	// answers even if the conversation had been handed off. A turn after a
	// kill is always resumed.
	Resumed bool
	Steps   []Step
	// Compact is the summary of a /compact behind the turn, "" for none; Keep is how
	// many messages it keeps, as a step's.
	Compact string
	Keep    int
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
	Keep      int    // with Summary: at least so many of the last messages stay in the prompt, 0 for none

	// Parallel: the calls run at the same time, as newer versions do it
	// (docker-agent.md 3.2). Nothing in them hands off or is killed.
	Parallel bool
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

	// Skill is the name of the skill that the caller's own agent runs in the
	// child (run_skill, v1.32.5); Agent is not used.
	Skill string
	// Background: the child runs beside the session and nobody waits for it.
	// Its tokens are all that the stream and the store hear of it
	// (docker-agent.md 4.1, #3173), so its steps do not matter.
	Background bool
}

// toolCall is the call as the model wrote it.
func (c *Call) toolCall() ToolCall {
	switch {
	case c.Task != nil && c.Task.Skill != "":
		return RunSkill(c.ID, c.Task.Skill, c.Task.Text)
	case c.Task != nil && c.Task.Background:
		return RunBackground(c.ID, c.Task.Agent, c.Task.Text, c.Task.ExpectedOutput)
	case c.Task != nil:
		return Transfer(c.ID, c.Task.Agent, c.Task.Text, c.Task.ExpectedOutput)
	case c.To != "":
		return HandOff(c.ID, c.To)
	}
	return CallTool(c.ID, c.Tool, c.Args)
}
