package adktest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Session is a conversation, as every generation can tell it.
type Session struct {
	App, User string // "app" and "u" when empty
	ID        string
	State     string  // JSON, "{}" when empty
	Events    []Event // in the order in which they are written
}

// Event is an event of a session.
type Event struct {
	ID         string // one is made up when it is empty
	Author     string
	Invocation string
	Branch     string // a path, or what Tokens and Forks give
	Scope      string // isolation scope
	Node       string // the path of its node, "" without one
	Role       string // "" for the one that its parts and its author ask for
	Parts      []Part // none at all for an event without content
	Actions    Actions
	Waits      []string  // ids of its long-running calls
	Time       time.Time // a millisecond after the one before when zero; its zone is the writer's
}

// Part is a part of an event's content: one of the three.
type Part struct {
	Text     string
	Thought  bool
	Call     *Call
	Response *Response
}

// Call is a function call.
type Call struct{ ID, Name, Args string } // Args is JSON

// Response is a function response.
type Response struct{ ID, Name, Value string } // Value is JSON, "" for none

// Actions are what an event did besides.
type Actions struct {
	StateDelta    string // JSON, "" for none
	Transfer      string // to which agent
	Escalate      bool
	SkipSummary   bool
	Confirmations []string // the calls for which a confirmation was asked
	Compaction    *Compaction
	RewindBefore  string // an invocation id
}

// Compaction is a summary that stands for the events of a span, both ends included.
type Compaction struct {
	From, To time.Time
	Text     string
}

// Text is a part that says something.
func Text(text string) Part { return Part{Text: text} }

// Calls is a part that calls a function.
func Calls(id, name, args string) Part { return Part{Call: &Call{id, name, args}} }

// Answers is a part that answers a call.
func Answers(id, name, value string) Part { return Part{Response: &Response{id, name, value}} }

// Tokens is a branch as google/adk-python#3889 stores it in its first form.
func Tokens(tokens ...int) string {
	text, _ := json.Marshal(append([]int{}, tokens...)) // integers always have a form
	return `{"tokens":` + string(text) + `}`
}

// Fork is one entry of a branch of forks: which sides of how many.
type Fork struct {
	ID, Total int
	Sides     []int
}

// Forks is a branch as google/adk-python#3889 stores it in its later form.
func Forks(forks ...Fork) string {
	entries := make([]string, len(forks))
	for i, f := range forks {
		sides, _ := json.Marshal(f.Sides) // integers always have a form
		entries[i] = fmt.Sprintf("%q:[%s,%d]", strconv.Itoa(f.ID), sides, f.Total)
	}
	return `{"active_forks":{` + strings.Join(entries, ",") + `}}`
}

func (e *Event) role() string {
	if e.Role != "" {
		return e.Role
	}
	if e.Author == "user" || e.answers() {
		return "user"
	}
	return "model"
}

func (e *Event) answers() bool {
	for _, p := range e.Parts {
		if p.Response != nil {
			return true
		}
	}
	return false
}
