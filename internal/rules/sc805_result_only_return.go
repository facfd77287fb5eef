package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var resultOnlyReturn = Rule{
	ID: "SC805", Name: "result-only-return", Severity: Warning, Safety: None, Scope: PerTree, Bodies: true, Since: "0.1.0",
	Title: "a parent received more of its sub-session than the final answer",
	Run: func(p *Pass) {
		for _, s := range p.strays() {
			p.reportStrays(&s)
		}
		for _, s := range p.isolated() {
			p.reportResult(&s)
		}
	},
}

// reportStrays reports what a parent has of its child. Leaks are SC701 to SC703.
func (p *Pass) reportStrays(s *stray) {
	f := p.find(s.parent.Session, s.items[0])
	f.Items, f.Call = s.items, s.Call().ID
	f.Related = []session.Place{s.parent.At(s.Item)}
	f.Message = fmt.Sprintf("%s of %s, which call %s asked, in the session of %s: it should get the result alone",
		count(len(s.items), "item"), agentName(s.Call().Delegation.Agent), callName(s.Call()), agentName(s.Caller()))
	p.Report(f)
}

// reportResult reports a result that brings more than the child's last answer.
func (p *Pass) reportResult(s *spawn) {
	r, last := s.Outcome(), replay.LastAnswer(s.child.Session)
	if r == nil || r.IsError || r.Pending || r.Synthetic || r.Text == "" || !s.Call().Delegation.Blocking {
		return
	}
	answer := ""
	if last >= 0 {
		it := &s.child.Items[last]
		if it.Body == nil || it.Text == r.Digest || it.Text == r.Answer {
			return
		}
		answer = it.Body.Text
	}
	more := surplus(r.Text, answer)
	if more == "" {
		return
	}
	f := p.find(s.parent.Session, s.Final)
	f.Call = s.Call().ID
	f.Related = []session.Place{s.parent.At(s.Item)}
	if last >= 0 {
		f.Related = append(f.Related, s.child.At(last))
	}
	f.Message = "the result of call " + callName(s.Call()) + " " + more
	p.Report(f)
}
