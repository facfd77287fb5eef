package kagenttest

// Form is how a database is written. The zero Form is none: take one of Forms.
type Form struct {
	Generation Generation
	Dialect    Dialect // of agents for which a program names no other
	Shape      Shape
	Times      Times
	Quoted     bool // documents are JSON strings that hold the JSON
}

// Dialect is how an agent's runtime writes its events.
type Dialect string

// The runtimes. LangGraph and CrewAI leave no events: they keep what they know in
// tables of their own.
const (
	Python    Dialect = "python"    // adk-python: snake case, nulls included
	Go1       Dialect = "go 1"      // adk-go before 2.2: names of Go's fields outside, camel case within the content
	Go2       Dialect = "go 2"      // adk-go since 2.2: camel case
	OpenAI    Dialect = "openai"    // OpenAI Agents SDK: lists of items of the Responses API
	LangGraph Dialect = "langgraph" // lg_checkpoint
	CrewAI    Dialect = "crewai"    // crewai_flow_state
)

// Shape is how A2A tasks are written.
type Shape string

// The shapes. V1 has an artifact for each event in place of a message in the history.
const (
	Legacy Shape = ""    // kind and "completed"; protocol_version is NULL
	V1     Shape = "1.0" // TASK_STATE_COMPLETED
)

// Times is how the driver writes times: a layout of package time.
type Times string

// The forms of times. GORM with a pure Go driver cuts zeros at the end of fractions.
const (
	GORM    Times = "2006-01-02 15:04:05.999999999-07:00"
	RFC3339 Times = "2006-01-02T15:04:05.000000000Z07:00"
	Named   Times = "2006-01-02 15:04:05.999999999 -0700 MST"
	Bare    Times = "2006-01-02 15:04:05.999999" // without a zone
)

// Forms are the forms to test with, by name.
var Forms = map[string]Form{
	"python 0.5":       {Generation: V05, Dialect: Python, Times: GORM},
	"python 0.7":       {Generation: V07, Dialect: Python, Times: RFC3339},
	"python":           {Generation: Current, Dialect: Python, Times: GORM},
	"python main":      {Generation: Current, Dialect: Python, Shape: V1, Times: Named},
	"go 1":             {Generation: Current, Dialect: Go1, Times: GORM},
	"go 1, quoted":     {Generation: V07, Dialect: Go1, Times: GORM, Quoted: true},
	"go 2":             {Generation: Current, Dialect: Go2, Shape: V1, Times: GORM},
	"go 2, quoted":     {Generation: Current, Dialect: Go2, Shape: V1, Times: Bare, Quoted: true},
	"python, no zones": {Generation: Current, Dialect: Python, Times: Bare},
}

// camel reports whether the names in a message's parts are in camel case.
func (d Dialect) camel() bool { return d == Go1 || d == Go2 }

// events reports whether the runtime stores events.
func (d Dialect) events() bool { return d != LangGraph && d != CrewAI }

// markers reports whether a Python runtime puts the headers of a request in an event
// of their own: from v0.7.0 to v0.10.x.
func (f Form) markers() bool { return f.Generation != V05 && f.Shape == Legacy }
