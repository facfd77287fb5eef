package isolation

import (
	"cmp"
	"path"
	"strings"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// toldFrom is the index of the item from which on an agent knew a file's name: it
// stands in what the agent was asked, or in what a delegation of its own brought back.
// 0 where the call that started the agent has it, or where texts are not loaded and
// nobody knows; len(Items) where the agent was never told.
func toldFrom(p *rules.Pass, s *rules.Subject, file string) int {
	name := path.Base(file)
	if d := p.Trace.Callers[s.Session]; d != nil && strings.Contains(d.Call().Args, name) {
		return 0
	}
	first := len(s.Items)
	for i := range s.Items {
		it := &s.Items[i]
		if it.Body == nil {
			return 0
		}
		if (it.Role == session.User || it.Role == session.System) && strings.Contains(it.Body.Text, name) {
			first = i
			break
		}
	}
	for _, d := range s.Replay.Delegations {
		r := d.Outcome()
		if r != nil && d.Final < first && strings.Contains(r.Text, name) {
			first = d.Final
		}
	}
	return first
}

// agentName is the agent that a session belongs to, "" when unknown.
func agentName(s *rules.Subject) string {
	asked := ""
	if s.Caller != nil {
		asked = s.Caller.Call().Delegation.Agent
	}
	return cmp.Or(s.Agent, asked, replay.FirstAgent(s.Session))
}

// whoseName names a session by its agent, for people.
func whoseName(s *rules.Subject) string {
	if agent := agentName(s); agent != "" {
		return rules.Quoted(agent) + " (" + rules.Short(s.ID) + ")"
	}
	return "session " + rules.Short(s.ID)
}
