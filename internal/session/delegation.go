package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// delegationTools are the tools that start a child session, and whether the
// caller waits for the child. Sources: docker agent 3.1 (transfer_task,
// run_background_agent, run_skill); "task" and "Agent" are the names that other
// runtimes with sub-agents use.
var delegationTools = map[string]struct{ blocking bool }{
	"transfer_task":        {blocking: true},
	"run_skill":            {blocking: true},
	"run_background_agent": {blocking: false},
	"task":                 {blocking: true},
	"Task":                 {blocking: true},
	"Agent":                {blocking: true},
}

// handoffTools are the tools that change the agent within one session: of docker
// agent (docs/stores/docker-agent.md#what-is-read), and of ADK.
var handoffTools = map[string]bool{"handoff": true, "transfer_to_agent": true}

// IsHandoff reports whether a tool of this name hands the session to another
// agent.
func IsHandoff(tool string) bool { return handoffTools[tool] }

// IsDelegation reports whether a tool of this name starts a child session.
func IsDelegation(tool string) bool {
	_, ok := delegationTools[tool]
	return ok
}

// DelegationFor reads what a call of the named tool says about the child it
// starts, nil when the tool starts none. Arguments that do not parse leave the
// agent and the task unknown.
func DelegationFor(tool, args string) *Delegation {
	kind, ok := delegationTools[tool]
	if !ok {
		return nil
	}
	d := &Delegation{Blocking: kind.blocking}
	var a struct {
		Agent        string `json:"agent"`
		SubagentType string `json:"subagent_type"`
		Task         string `json:"task"`
		Prompt       string `json:"prompt"`
	}
	if json.Unmarshal([]byte(args), &a) != nil {
		return d
	}
	d.Agent, d.Task = cmp.Or(a.Agent, a.SubagentType), DigestOf(cmp.Or(a.Task, a.Prompt))
	return d
}

// childTitles are the titles that docker agent gives to child sessions (docs/stores/docker-agent.md#what-is-read);
// the last one is a prefix.
var childTitles = []string{"Transferred task", "Background agent task", "Skill: "}

// LooksDelegated reports whether the session looks like a child: titled like
// one, and begun with a system message and an implicit user message.
func (s *Session) LooksDelegated() bool {
	if len(s.Items) < 2 || s.Items[0].Role != System || s.Items[1].Role != User || !s.Items[1].Flags.Has(Implicit) {
		return false
	}
	return slices.ContainsFunc(childTitles, func(title string) bool {
		return s.Title == title || strings.HasSuffix(title, " ") && strings.HasPrefix(s.Title, title)
	})
}
