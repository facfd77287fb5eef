package springtest

import (
	"encoding/json"
	"time"
)

// Event is a row before it is written.
type Event struct {
	ID        string // "" for the next one
	Type      string // USER, ASSISTANT, SYSTEM, TOOL
	Text      string
	NoText    bool // NULL in place of a text
	Calls     []Call
	Responses []Response
	Data      string // message_data as it is stored, in place of calls and responses
	Branch    string
	Archived  bool
	Synthetic bool
	Metadata  string    // JSON, "" for what the library writes
	Time      time.Time // zero for the next one
}

// Call is a call of an ASSISTANT.
type Call struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Response is the response to a call, of a TOOL.
type Response struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Data string `json:"responseData"`
}

// User is what a person says, or what a sub-agent is asked.
func User(text string) Event { return Event{Type: "USER", Text: text} }

// Assistant is an answer.
func Assistant(text string) Event { return Event{Type: "ASSISTANT", Text: text} }

// Calling is an answer with calls of a tool, by their ids. It has no text.
func Calling(ids ...string) Event {
	e := Event{Type: "ASSISTANT", NoText: true}
	for _, id := range ids {
		e.Calls = append(e.Calls, Call{ID: id, Type: "function", Name: "get_weather", Arguments: `{"location":"Paris"}`})
	}
	return e
}

// Responding is a TOOL message with the responses to calls.
func Responding(ids ...string) Event {
	e := Event{Type: "TOOL"}
	for _, id := range ids {
		e.Responses = append(e.Responses, Response{ID: id, Name: "get_weather", Data: `{"temp":"22C","call":"` + id + `"}`})
	}
	return e
}

// Summary is the pair of messages that a compaction makes.
func Summary(text string) []Event {
	pair := []Event{User("Summarize the conversation we had so far."), Assistant(text)}
	for i := range pair {
		pair[i].Synthetic = true
		pair[i].Metadata = `{"synthetic":true,"compactionSource":"recursive-summarization"}`
	}
	return pair
}

// On is the event on a branch.
func (e Event) On(branch string) Event {
	e.Branch = branch
	return e
}

// data is message_data.
func (e Event) data() any {
	var list any
	switch {
	case e.Data != "":
		return e.Data
	case e.Calls != nil:
		list = e.Calls
	case e.Type == "TOOL":
		list = append([]Response{}, e.Responses...)
	default:
		return nil
	}
	text, _ := json.Marshal(list) // never fails on strings
	return string(text)
}
