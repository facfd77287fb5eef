package rules

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var collapsedChildren = Rule{
	ID: "SC707", Name: "collapsed-parallel-children", Severity: Error, Safety: None, Scope: PerTree, Since: "0.1.0",
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
// some runtimes do on purpose.
func reportShare(p *Pass, s *share) {
	first := s.spawns[0]
	f := p.find(first.parent.Session, first.Item)
	f.Nth, f.Call = first.Nth, first.Call().ID
	for _, sp := range s.spawns {
		if sp.parent == first.parent {
			f.Items = append(f.Items, sp.Item)
		} else {
			f.Related = append(f.Related, Place{Session: sp.parent.ID, Item: sp.Item})
		}
	}
	f.Items = slices.Compact(f.Items)
	runs := invocations(s.child.Session)
	for _, v := range runs {
		f.Related = append(f.Related, Place{Session: s.child.ID, Item: v.first()})
	}
	who := fmt.Sprintf("%s share session %s of agent %s", s.calls(), Short(s.child.ID), quoted(s.agent()))
	switch {
	case s.batched():
		f.Message = who + ", where they ran at the same time, each with what the others said in view: " + s.names()
	case overlapping(runs):
		f.Message = who + ", and what they started ran there at the same time, each with what the others said in view: " + s.names()
	default:
		f.Severity = Info
		f.Message = who + " one after another, each with what was said there before in view: " + s.names()
	}
	if p.Store.SharedChildren != "" {
		f.Message += "; " + p.Store.SharedChildren
	}
	if f.Severity == Error {
		fix, why := p.split(s)
		if f.Fixes = fix; why != "" {
			f.Message += "; a repair cannot split it, because " + why
		}
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

// names lists the ids of the calls, up to so many that a person can still read.
func (s *share) names() string {
	const most = 20
	var ids []string
	for _, sp := range s.spawns {
		ids = append(ids, callName(&session.Call{ID: sp.Call().ID}))
	}
	if more := len(ids) - most; more > 1 {
		ids = append(ids[:most], fmt.Sprintf("%d more", more))
	}
	return list(ids)
}

// reportUncalled tells of a session that shows by itself that several requests ran in
// it at the same time, where the calls behind them are not stored.
func reportUncalled(p *Pass) {
	called := map[*Subject]int{}
	for _, sp := range p.callers() {
		called[sp.child]++
	}
	for _, s := range p.Subjects {
		runs := invocations(s.Session)
		if called[s] > 1 || !s.Delegated && len(s.Runs) < 2 || !overlapping(runs) {
			continue
		}
		f := p.find(s.Session, runs[0].first())
		f.Items = nil
		for _, v := range runs {
			f.Items = append(f.Items, v.first())
		}
		f.Message = fmt.Sprintf("%s ran in this session at the same time, each with what the others said in view, "+
			"and no stored conversation has the calls behind them", count(len(runs), "request"))
		if p.Store.SharedChildren != "" {
			f.Message += "; " + p.Store.SharedChildren
		}
		p.Report(f)
	}
}
