package isolation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var toolScope = rules.Rule{
	ID: "SC809", Name: "tool-scope", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Since: "0.1.0",
	Title: "a sub-agent uses a tool that its delegation did not grant",
	Run: func(p *rules.Pass) {
		for _, calls := range lists.GroupBy(delegation.ListSpawns(p), func(s delegation.Spawn) *rules.Subject { return s.To }) {
			reportToolScope(p, calls[0].To, calls)
		}
	},
}

// reportToolScope looks at a child, which may have been started again, where all of its
// delegations say which tools they grant.
func reportToolScope(p *rules.Pass, child *rules.Subject, by []delegation.Spawn) {
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
	for i, it := range child.OwnItems() {
		if !agents[it.Agent()] {
			continue // of who took the session over and has tools of its own
		}
		for n := range it.Calls {
			c := &it.Calls[n]
			if c.Delegation != nil || session.IsHandoff(c.Name) || granted[c.Name] {
				continue
			}
			items = append(items, i)
			tools = lists.AppendNew(tools, rules.QuoteText(c.Name))
		}
	}
	p.ReportItems(child.Session, slices.Compact(items), func(f *rules.Finding) {
		f.Related = []session.Place{by[0].From.ItemPlace(by[0].Item)}
		f.Message = rules.QuoteText(child.Items[items[0]].Agent()) + " calls " + rules.JoinFew(tools) + ", which call " + rules.CallName(by[0].Call()) + " did not grant"
	})
}
