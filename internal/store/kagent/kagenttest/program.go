package kagenttest

// Program is what happens in an installation.
type Program struct {
	Name          string
	Sharing       Sharing
	Pauses        Pauses
	Conversations []Conversation
	Writers       map[string]Dialect // of agents that do not write as the form says
	Elsewhere     []string           // agents that another installation runs: nothing of them is stored

	// After are statements that are run when all is written: deletions and damage.
	After func(w *Written) []string
}

// Sharing says which calls of a worker get one session.
type Sharing string

// PerRequest is what the Python runtime does without isolateSessions, PerPod what the
// Go runtime does; PerCall is isolateSessions.
const (
	PerRequest Sharing = ""
	PerPod     Sharing = "per pod"
	PerCall    Sharing = "per call"
)

// Pauses says what becomes of the responses that stand for the answer of a person, and
// of those beside them, when a person is asked.
type Pauses string

// AtResponses is what adk-go does since 1.4: it asks behind the responses. adk-python and
// adk-go before 1.4 ask first. AtQuestion is these under kagent's executors that stop
// where the question comes (Python since 0.8.0, Go since 0.8.6), so that the responses
// are never stored; BehindQuestion is these under earlier ones.
const (
	AtResponses    Pauses = ""
	AtQuestion     Pauses = "at the question"
	BehindQuestion Pauses = "behind the question"
)

// Conversation is a session that a user has with an agent.
type Conversation struct {
	User, Agent string // admin@kagent.dev and Root when empty
	Turns       []Turn
	Beside      bool // it goes on while the one before does
}

// Turn is a request and what the agent does about it.
type Turn struct {
	Ask      string
	Work     [][]Call // batches, one behind the other
	Answer   string
	Approval Approval // of a tool that the agent calls when its work is done
	Writer   Dialect  // of this turn alone, "" for the agent's own
}

// Approval is a question to a person that stops an agent.
type Approval int

// What becomes of the question.
const (
	NotAsked Approval = iota
	Waiting
	Approved
)

// Call is a call that an agent makes: of its Tool, or of the worker Agent, which
// then does Work.
type Call struct {
	ID    string // one is made up when it is empty
	Tool  string
	Agent string

	Ask      string // what the worker is asked
	Answer   string
	Work     [][]Call
	Approval Approval // of a tool that the worker calls

	Error string // the worker is never reached, and the response says so
	Plain bool   // the response has the text and no session, as older Python runtimes wrote it
	Lost  bool   // the caller ends before the response is stored
}

// The agents of the scripts.
const (
	Root   = "kagent__NS__orchestrator"
	Worker = "kagent__NS__k8s_agent"
	Helm   = "kagent__NS__helm_agent"
	Istio  = "kagent__NS__istio_agent"
)

// DefaultUser is the user of conversations that name none.
const DefaultUser = "admin@kagent.dev"

// request is the turn of the worker that the call asks for.
func (c Call) request() Turn {
	return Turn{Ask: c.Ask, Work: c.Work, Answer: c.Answer, Approval: c.Approval}
}

// title is the name that a session gets from its first request.
func title(request string) string {
	if runes := []rune(request); len(runes) > 20 {
		return string(runes[:20]) + "..."
	}
	return request
}
