package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var toolScope = Rule{
	ID: "SC809", Name: "tool-scope", Severity: Warning, Safety: None, Scope: PerTree, Optional: true, Since: "0.1.0",
	Title: "a sub-agent uses a tool that its delegation did not grant",
	Run: func(p *Pass) {
		var order []*Subject
		calls := map[*Subject][]spawn{} // of one child, which may have been started again
		for _, s := range p.spawns() {
			if calls[s.child] == nil {
				order = append(order, s.child)
			}
			calls[s.child] = append(calls[s.child], s)
		}
		for _, child := range order {
			p.reportToolScope(child, calls[child])
		}
	},
}

// reportToolScope looks at a child all of whose delegations say which tools they
// grant.
func (p *Pass) reportToolScope(child *Subject, by []spawn) {
	granted, agents := map[string]bool{}, map[string]bool{"": true}
	for _, s := range by {
		d := s.Call().Delegation
		if d.Tools == nil {
			return
		}
		for _, tool := range d.Tools {
			granted[tool] = true
		}
		agents[d.Agent] = true
	}
	agents[replay.FirstAgent(child.Session)] = true
	var items []int
	var tools []string
	for i := range child.Items {
		it := &child.Items[i]
		if child.Replay.Steps[i].Action != replay.Persist || !agents[it.Agent] {
			continue // somebody else's, or of who took the session over and has tools of its own
		}
		for n := range it.Calls {
			c := &it.Calls[n]
			if c.Delegation != nil || session.IsHandoff(c.Name) || granted[c.Name] {
				continue
			}
			items = append(items, i)
			if name := quoted(c.Name); !slices.Contains(tools, name) {
				tools = append(tools, name)
			}
		}
	}
	if len(items) == 0 {
		return
	}
	f := p.find(child.Session, items[0])
	f.Items = slices.Compact(items)
	f.Related = []session.Place{by[0].parent.At(by[0].Item)}
	f.Message = quoted(child.Items[items[0]].Agent) + " calls " + some(tools) + ", which " + callName(by[0].Call()) + " did not grant to it"
	p.Report(f)
}
