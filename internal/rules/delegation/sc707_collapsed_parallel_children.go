package delegation

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var collapsedChildren = rules.Rule{
	ID: "SC707", Name: "collapsed-parallel-children", Severity: rules.Error, Safety: rules.None, Allow: "split", Scope: rules.PerTree, Since: "0.1.0",
	Title: "several calls share one sub-session",
	Run: func(p *rules.Pass) {
		shares := sharedSessions(p)
		for i := range shares {
			reportShare(p, &shares[i])
		}
		reportUncalled(p)
	},
}

// reportShare tells of the calls of one conversation that share a session. Those
// that ran at the same time mixed up what they said there; one after another is what
// some runtimes document.
func reportShare(p *rules.Pass, s *share) {
	first := s.spawns[0]
	f := p.FindItem(first.From.Session, first.Item)
	f.Nth, f.Call, f.Count = first.Nth, first.Call().ID, len(s.spawns)
	for _, sp := range s.spawns {
		if sp.From == first.From {
			f.Items = append(f.Items, sp.Item)
		} else {
			f.Related = append(f.Related, sp.From.ItemPlace(sp.Item))
		}
	}
	f.Items = slices.Compact(f.Items)
	runs := rules.ListInvocations(s.child.Session)
	for _, v := range runs {
		f.Related = append(f.Related, s.child.ItemPlace(v.First()))
	}
	m, untold := matchCalls(s)
	f.Message = fmt.Sprintf("%s share session %s of agent %s", s.callsText(), rules.ShortID(s.child.ID), rules.QuoteText(s.askedAgent()))
	atOnce := m.describeTogether(s, untold == "")
	switch {
	case atOnce != "":
		f.AddSentence(atOnce)
	case rules.HasOverlap(runs):
		f.AddSentence("What " + s.callNames(s.spawns) + " started ran there at the same time, and each saw what the others said")
	default:
		f.AddSentence(s.callNames(s.spawns) + " ran there one after another, and each saw what was said before")
		if p.Store.ReusesChildren {
			f.Severity = rules.Info
		}
	}
	f.AddSentence(p.Store.SharedChildren)
	switch {
	case atOnce != "" || rules.HasOverlap(runs):
		fix, why := splitFix(p, s, m, untold)
		if f.Fixes = fix; why != "" {
			f.AddSentence("A repair cannot split it, because " + why)
		}
	case f.Severity == rules.Error:
		f.AddSentence("A repair does not split it, because a later call may build on what was said before")
	}
	p.Report(f)
}

// callsText counts them.
func (s *share) callsText() string {
	first, text := s.spawns[0], rules.CountedNoun(len(s.spawns), "call")
	if !slices.ContainsFunc(s.spawns, func(sp Spawn) bool { return sp.From != first.From || sp.Item != first.Item }) {
		return text + " of one turn"
	}
	return text + " of one conversation"
}

// describeTogether says which of the calls ran at the same time, and which did not; "" when none is
// known to have. whole: for every call it is known what it started.
func (m *match) describeTogether(s *share, whole bool) string {
	const most = 5 // groups
	var groups []string
	var alone []Spawn
	left := 0 // calls of further groups
	for _, group := range m.concurrentGroups() {
		calls := lists.MapEach(group, func(c *asker) Spawn { return c.Spawn })
		switch {
		case len(group) == len(m.calls):
			return s.callNames(s.spawns) + " ran there at the same time, and each saw what the others said"
		case len(group) == 1:
			alone = append(alone, calls...)
		case len(groups) == most:
			left += len(group)
		default:
			groups = append(groups, s.callNames(calls))
		}
	}
	if len(groups) == 0 {
		return ""
	}
	if left > 0 {
		groups = append(groups, fmt.Sprintf("%d more", left))
	}
	text := groups[0] + " ran there at the same time, "
	for _, names := range groups[1:] {
		text += "and so did " + names + ", "
	}
	text += "and each saw what the others said"
	if len(alone) > 0 {
		if text += ". It also served " + s.callNames(alone); whole {
			text += ", while no other call ran"
		}
	}
	return text
}

// callNames lists the ids of some of the calls, with their sessions where the share has
// several, up to so many that a person can still read.
func (s *share) callNames(calls []Spawn) string {
	const most = 20
	several := slices.ContainsFunc(s.spawns, func(sp Spawn) bool { return sp.From != s.spawns[0].From })
	return rules.JoinMost(most, lists.MapEach(calls, func(sp Spawn) string {
		id := rules.CallName(&session.Call{ID: sp.Call().ID})
		if several {
			id += " of " + rules.ShortID(sp.From.ID)
		}
		return id
	}))
}

// reportUncalled tells of a session that shows by itself that several requests ran in
// it at the same time, where the calls behind them are not stored.
func reportUncalled(p *rules.Pass) {
	calls := treeSharing(p).calls
	for _, s := range p.Subjects {
		if calls[s] > 1 || !s.Delegated && len(s.Runs) < 2 {
			continue
		}
		runs := rules.ListInvocations(s.Session)
		if !rules.HasOverlap(runs) {
			continue
		}
		f := p.FindItems(s.Session, lists.MapEach(runs, (*rules.Invocation).First))
		behind := "No stored conversation has the calls that started them"
		if calls[s] == 1 {
			behind = "Only one stored call names this session"
		}
		f.Message = rules.CountedNoun(len(runs), "request") + " ran in this session at the same time, and each saw what the others said"
		f.AddSentence(behind)
		f.AddSentence(p.Store.SharedChildren)
		f.AddSentence("A repair cannot split it, because a new session needs a call that can name it")
		p.Report(f)
	}
}
