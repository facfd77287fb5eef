package rules

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var collapsedChildren = Rule{
	ID: "SC707", Name: "collapsed-parallel-children", Severity: Error, Safety: None, Allow: "split", Scope: PerTree, Since: "0.1.0",
	Title: "several calls share one sub-session",
	Run: func(p *Pass) {
		shares := p.shares()
		for i := range shares {
			reportShare(p, &shares[i])
		}
		reportUncalled(p)
	},
}

// reportShare tells of the calls of one conversation that share a session. Those
// that ran at the same time mixed up what they said there; one after another is what
// some runtimes document.
func reportShare(p *Pass, s *share) {
	first := s.spawns[0]
	f := p.find(first.parent.Session, first.Item)
	f.Nth, f.Call, f.Count = first.Nth, first.Call().ID, len(s.spawns)
	for _, sp := range s.spawns {
		if sp.parent == first.parent {
			f.Items = append(f.Items, sp.Item)
		} else {
			f.Related = append(f.Related, sp.parent.At(sp.Item))
		}
	}
	f.Items = slices.Compact(f.Items)
	runs := invocations(s.child.Session)
	for _, v := range runs {
		f.Related = append(f.Related, s.child.At(v.first()))
	}
	m, untold := matched(s)
	f.Message = fmt.Sprintf("%s share session %s of agent %s", s.calls(), Short(s.child.ID), quoted(s.agent()))
	atOnce := m.told(s, untold == "")
	switch {
	case atOnce != "":
		f.Message += atOnce
	case overlapping(runs):
		f.Message += ", and what they started ran there at the same time, each with what the others said in view: " + s.names(s.spawns)
	default:
		f.Message += " one after another, each with what was said there before in view: " + s.names(s.spawns)
		if p.Store.ReusesChildren {
			f.Severity = Info
		}
	}
	if p.Store.SharedChildren != "" {
		f.Message += "; " + p.Store.SharedChildren
	}
	switch {
	case atOnce != "" || overlapping(runs):
		fix, why := p.split(s, m, untold)
		if f.Fixes = fix; why != "" {
			f.Message += "; a repair cannot split it, because " + why
		}
	case f.Severity == Error:
		f.Message += "; a repair does not split it, because a later call may build on what was said before"
	}
	p.Report(f)
}

// calls counts them.
func (s *share) calls() string {
	first, text := s.spawns[0], count(len(s.spawns), "call")
	if !slices.ContainsFunc(s.spawns, func(sp spawn) bool { return sp.parent != first.parent || sp.Item != first.Item }) {
		return text + " of one turn"
	}
	return text + " of one conversation"
}

// told says which of the calls ran at the same time, and which did not; "" when none is
// known to have. whole: for every call it is known what it started.
func (m *match) told(s *share, whole bool) string {
	const most = 5 // groups
	var groups []string
	var alone []spawn
	left := 0 // calls of further groups
	for _, group := range m.together() {
		var calls []spawn
		for _, c := range group {
			calls = append(calls, c.spawn)
		}
		switch {
		case len(group) == len(m.calls):
			return ", where they ran at the same time, each with what the others said in view: " + s.names(s.spawns)
		case len(group) == 1:
			alone = append(alone, calls...)
		case len(groups) == most:
			left += len(group)
		default:
			groups = append(groups, s.names(calls))
		}
	}
	if len(groups) == 0 {
		return ""
	}
	if left > 0 {
		groups = append(groups, fmt.Sprintf("%d more", left))
	}
	text := ": " + groups[0] + " ran there at the same time, "
	for _, names := range groups[1:] {
		text += "and so did " + names + ", "
	}
	text += "each with what the others said in view"
	if len(alone) > 0 {
		if text += "; it also served " + s.names(alone); whole {
			text += ", while no other call ran"
		}
	}
	return text
}

// names lists the ids of some of the calls, with their sessions where the share has
// several, up to so many that a person can still read.
func (s *share) names(calls []spawn) string {
	const most = 20
	several := slices.ContainsFunc(s.spawns, func(sp spawn) bool { return sp.parent != s.spawns[0].parent })
	var ids []string
	for _, sp := range calls {
		id := callName(&session.Call{ID: sp.Call().ID})
		if several {
			id += " of " + Short(sp.parent.ID)
		}
		ids = append(ids, id)
	}
	if more := len(ids) - most; more > 1 {
		ids = append(ids[:most], fmt.Sprintf("%d more", more))
	}
	return list(ids)
}

// reportUncalled tells of a session that shows by itself that several requests ran in
// it at the same time, where the calls behind them are not stored.
func reportUncalled(p *Pass) {
	calls := p.shared().calls
	for _, s := range p.Subjects {
		if calls[s] > 1 || !s.Delegated && len(s.Runs) < 2 {
			continue
		}
		runs := invocations(s.Session)
		if !overlapping(runs) {
			continue
		}
		f := p.find(s.Session, runs[0].first())
		f.Items = nil
		for _, v := range runs {
			f.Items = append(f.Items, v.first())
		}
		behind := "no stored conversation has the calls behind them"
		if calls[s] == 1 {
			behind = "only one call that is stored names it"
		}
		f.Message = fmt.Sprintf("%s ran in this session at the same time, each with what the others said in view, and %s",
			count(len(runs), "request"), behind)
		if p.Store.SharedChildren != "" {
			f.Message += "; " + p.Store.SharedChildren
		}
		f.Message += "; a repair cannot split it, because a new session needs a call that can name it"
		p.Report(f)
	}
}
