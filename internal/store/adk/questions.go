package adk

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// The calls by which the runtime asks a person about another call (2, 6.5).
const (
	confirmation = "adk_request_confirmation"
	credential   = "adk_request_credential"
)

// questions are the calls that an event asks a person about, by the ids of the
// questions, nil for none.
func questions(g generation, s *stored) *map[string]string {
	if s.Content == nil {
		return nil
	}
	var about map[string]string
	for i := range s.Content.Parts {
		f := s.Content.Parts[i].FunctionCall
		if f == nil || f.Name != confirmation && f.Name != credential {
			continue
		}
		var args struct {
			FunctionCallID       string       `json:"functionCallId"` // of a request for credentials
			OriginalFunctionCall functionCall `json:"originalFunctionCall"`
		}
		if g.decode(f.Args, &args) != nil {
			continue
		}
		if about == nil {
			about = map[string]string{}
		}
		about[f.ID] = args.FunctionCallID + args.OriginalFunctionCall.ID
	}
	if about == nil {
		return nil
	}
	return &about
}

// ask says about which calls a person was asked who can still answer: those of questions
// without an answer, as long as neither the caller nor the user went on. adk-python
// stores a question before the response that stands for the one to come, and a consumer
// that stops at the question leaves the call without any; confirmed, the tool runs, and
// its response follows.
func (n *notes) ask(s *session.Session) {
	type voice struct{ agent, branch string }
	wentOn, answered, open := map[voice]bool{}, map[string]bool{}, map[string]bool{}
	for i := len(s.Items) - 1; i >= 0; i-- {
		it := &s.Items[i]
		by := voice{it.Agent, it.Branch}
		for nth := range it.Calls {
			id := it.Calls[nth].ID
			setAsked(it, nth, open[id] && !wentOn[by] && !wentOn[voice{}])
			delete(open, id)
		}
		for nth := range it.Results {
			answered[it.Results[nth].CallID] = true
		}
		if it.OnWire() && !it.Answers() {
			if it.Role == session.User {
				by = voice{}
			}
			wentOn[by] = true
		}
		about := n.of(it).about
		if about == nil || it.Flags&(session.Rewound|session.Compacted) != 0 {
			continue
		}
		for question, call := range *about {
			open[call] = open[call] || !answered[question]
		}
	}
}

// setAsked leaves the calls of an item that another session shares.
func setAsked(it *session.Item, nth int, asked bool) {
	if it.Calls[nth].Asked != asked {
		it.Calls = slices.Clone(it.Calls)
		it.Calls[nth].Asked = asked
	}
}
