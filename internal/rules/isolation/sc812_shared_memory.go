package isolation

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var sharedMemory = rules.Rule{
	ID: "SC812", Name: "shared-memory", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Since: "0.1.0",
	Title: "several agents share one session without a branch or a handoff",
	Run: func(p *rules.Pass) {
		if branch.ByLabel(p.Store.BranchModel) {
			return // its reader shows an agent what its branch lets it see
		}
		foreign := foreignItems(p)
		for _, s := range p.Subjects {
			reportSharedMemory(p, s, foreign)
		}
	},
}

// foreignItems are the items of sessions that another one of its agents should have, as other
// rules tell: what a child has of its parent (SC801, SC804) or of a sibling (SC810), and
// a parent of its child (SC805).
func foreignItems(p *rules.Pass) map[session.Place]bool {
	list := map[session.Place]bool{}
	for _, s := range isolatedSpawns(p) {
		for _, pair := range inheritedPairs(s) {
			list[s.To.ItemPlace(pair.Child)] = true
		}
	}
	for _, s := range findStrays(p) {
		for _, i := range s.items {
			list[s.From.ItemPlace(i)] = true
		}
	}
	for child, copies := range siblingCopies(p) {
		for _, c := range copies {
			list[child.ItemPlace(c.item)] = true
		}
	}
	return list
}

// memory is what agents share unless their items say otherwise.
type memory struct{ branch, scope string }

// speaker is who spoke last in a memory.
type speaker struct {
	agent  string
	handed bool            // it handed over, or the user came since
	asked  map[string]bool // agents that it asked: what they say in its place is SC831's
}

// reportSharedMemory looks for agents that begin to speak in the middle of a turn of
// another one.
func reportSharedMemory(p *rules.Pass, s *rules.Subject, foreign map[session.Place]bool) {
	last := map[memory]*speaker{}
	var items []int
	var agents []string
	for i, it := range s.OwnItems() {
		if !it.OnWire() {
			continue
		}
		if isPrompt(it) {
			for _, who := range last {
				who.handed = true
			}
		}
		if it.Role != session.Assistant || it.Agent() == "" || foreign[s.ItemPlace(i)] {
			continue
		}
		at := memory{it.Branch(), it.Scope()}
		before := last[at]
		if before != nil && before.agent != it.Agent() && !before.handed && !before.asked[it.Agent()] {
			items = append(items, i)
			agents = lists.AppendNew(lists.AppendNew(agents, rules.QuoteText(before.agent)), rules.QuoteText(it.Agent()))
		}
		last[at] = speakerAt(s, i)
	}
	p.ReportItems(s.Session, items, func(f *rules.Finding) {
		f.Message = rules.JoinFew(agents) + " speak in one session without a handoff between them. Each of them sees what the others did."
	})
}

func speakerAt(s *rules.Subject, i int) *speaker {
	it := &s.Items[i]
	who := &speaker{agent: it.Agent(), asked: map[string]bool{}}
	for n := range it.Calls {
		who.handed = who.handed || handsOver(it.Calls[n].Name)
		if d := it.Calls[n].Delegation; d != nil {
			who.asked[d.Agent] = true
		}
	}
	return who
}

// passesOn reports whether an item calls for another agent within its session.
func passesOn(it *session.Item) bool {
	return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return handsOver(c.Name) })
}

// handsOver reports whether a tool of this name lets another agent go on: that of a
// runtime, or one that is named after the agent, as OpenAI's Agents SDK
// (transfer_to_billing) and LangGraph (transfer_back_to_supervisor) have them.
func handsOver(tool string) bool {
	return session.IsHandoff(tool) || strings.HasPrefix(tool, "transfer_to_") || strings.HasPrefix(tool, "transfer_back_to_") ||
		strings.HasPrefix(tool, "handoff_to_")
}
