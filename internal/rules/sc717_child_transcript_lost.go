package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var childTranscriptLost = Rule{
	ID: "SC717", Name: "child-transcript-lost", Severity: Warning, Safety: None, Scope: PerTree | PerComparison, Since: "0.1.0",
	Title: "a delegation was answered, but its sub-session holds no message",
	Run: func(p *Pass) {
		if p.Compared != nil {
			for _, c := range p.differences().children {
				if !c.leaked && !c.uncalled {
					p.reportLostChild(c)
				}
			}
			return
		}
		for _, s := range p.Subjects {
			for _, d := range s.Replay.Delegations {
				if d.Result < 0 || d.Child == nil || !d.Call().Delegation.Blocking || len(d.Leaked) > 0 || !speechless(d.Child) || keptElsewhere(d.Child) {
					continue
				}
				f := p.findSession(d.Child)
				f.Agent, f.Call = d.Call().Delegation.Agent, d.Call().ID
				f.Related = []session.Place{s.At(d.Item)}
				f.Message = "call " + callName(d.Call()) + " was answered, but the sub-session holds none of the messages that led to it"
				p.Report(f)
			}
		}
	},
}

// reportLostChild is the finding about a sub-session that only the recording has:
// at the empty session, else at the call that started it.
func (p *Pass) reportLostChild(c *lostChild) {
	lost := c.sessions[0]
	f := p.findSession(p.Tree.Root())
	switch {
	case c.stored != nil:
		f = p.findSession(c.stored)
	case c.asked != nil:
		f = p.find(c.asked.Session, c.asked.Item)
		f.Nth = c.asked.Nth
	}
	if c.stored != nil && c.asked != nil {
		f.Related = []session.Place{c.asked.Session.At(c.asked.Item)}
	}
	f.Agent, f.Count = replay.FirstAgent(lost), len(lost.Items)
	who := ""
	if c.call != nil {
		f.Call = c.call.Call().ID
		who = fmt.Sprintf(", started by %s with call %s%s", agentName(c.call.Caller()), callName(c.call.Call()), atLine(&c.call.Session.Items[c.call.Item]))
	}
	f.Message = fmt.Sprintf("the recording has %s of sub-session %s of %s%s, and the store has none of them",
		count(len(lost.Items), "item"), Short(lost.ID), agentName(f.Agent), who)
	if below := len(c.sessions) - 1; below > 0 {
		f.Message += fmt.Sprintf(", nor of the %s below it", count(below, "sub-session"))
	}
	if !c.completed {
		f.Severity = Info
		f.Message += "; it never completed, so that a runtime may have had nothing to store, and the recording is all that is left of it"
	}
	p.Report(f)
}
