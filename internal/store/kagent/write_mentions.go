package kagent

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// The members that name the session of a worker (b3): in the answer to a call, and
// beside the call.
const (
	childMember = "subagent_session_id"
	childStamp  = "kagent_subagent_session_id"
)

// mention is a place in the data of a task that names the session of a worker.
type mention struct {
	at         jsontext.Pointer
	call, was  string
	invocation string         // that the message or artifact says it is of, "" for none
	answers    bool           // it is in an answer
	evidence   session.Digest // of what the call asked, or of what came back; 0 for none
	// nth and of are which call with this id of the invocation it is, or the answer to
	// it, and how many there are: in the history and the status, which hold one event
	// once, or in the artifacts, which can hold it again.
	nth, of int
	among   turns
}

// turns are the calls with one id in the history, or in the artifacts.
type turns struct {
	made
	artifacts bool
}

// mentions are collected in the order of a document.
type mentions struct {
	list  []mention
	calls map[turns]int
}

// part looks for mentions in a part with data: a call or the answer to one.
func (m *mentions) part(at jsontext.Pointer, in scope, part, data map[string]any) {
	call, _ := data["id"].(string)
	response, answers := data["response"]
	among := turns{made{in.invocation, call}, in.artifacts}
	evidence := session.Digest(0)
	if answers {
		evidence = textAt(response, "result")
	} else {
		evidence = textAt(data["args"], "request")
		m.calls[among]++
	}
	for _, place := range []struct {
		holder any
		at     jsontext.Pointer
		name   string
	}{
		{response, at.AppendToken("data").AppendToken("response"), childMember},
		{part["metadata"], at.AppendToken("metadata"), childStamp},
	} {
		members, _ := place.holder.(map[string]any)
		if was, named := members[place.name].(string); named {
			m.list = append(m.list, mention{
				at: place.at.AppendToken(place.name), call: call, was: was, invocation: in.invocation,
				answers: answers, evidence: evidence, nth: m.calls[among] - 1, among: among,
			})
		}
	}
}

// textAt is the digest of a text in an object, 0 for none.
func textAt(object any, name string) session.Digest {
	members, _ := object.(map[string]any)
	text, _ := members[name].(string)
	return session.DigestOf(text)
}

// each hands all mentions to fn.
func (m *mentions) each(fn func(m *mention) error) error {
	for i := range m.list {
		one := &m.list[i]
		one.of = m.calls[one.among]
		if err := fn(one); err != nil {
			return err
		}
	}
	return nil
}
