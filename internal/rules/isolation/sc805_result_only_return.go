package isolation

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var resultOnlyReturn = rules.Rule{
	ID: "SC805", Name: "result-only-return", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Bodies: true, Since: "0.1.0",
	Title: "a parent received more of its sub-session than the final answer",
	Run: func(p *rules.Pass) {
		for _, s := range findStrays(p) {
			reportStrays(p, &s)
		}
		for _, s := range isolatedSpawns(p) {
			reportResult(p, &s)
		}
	},
}

// reportStrays reports what a parent has of its child. Leaks are SC701 to SC703.
func reportStrays(p *rules.Pass, s *stray) {
	f := p.FindItems(s.From.Session, s.items)
	f.Call = s.Call().ID
	f.Related = []session.Place{s.From.ItemPlace(s.Item)}
	f.Message = fmt.Sprintf("the session of %s contains %s of %s", rules.AgentName(s.Caller()), rules.CountedNoun(len(s.items), "message"), rules.AgentName(s.Call().Delegation.Agent))
	f.AddSentence("Call " + rules.CallName(s.Call()) + " should bring back the result alone")
	p.Report(f)
}

// reportResult reports a result that brings more than the child's last answer.
func reportResult(p *rules.Pass, s *delegation.Spawn) {
	r, last := s.Outcome(), replay.LastAnswer(s.To.Session)
	if r == nil || r.IsError || r.Pending || r.Synthetic || r.Text == "" || !s.Call().Delegation.Blocking {
		return
	}
	answer := ""
	if last >= 0 {
		it := &s.To.Items[last]
		if it.Body == nil || it.Text == r.Digest || it.Text == r.Answer {
			return
		}
		answer = it.Body.Text
	}
	more := describeSurplus(r.Text, answer)
	if more == "" {
		return
	}
	f := findResult(p, s, more)
	if last >= 0 {
		f.Related = append(f.Related, s.To.ItemPlace(last))
	}
	p.Report(f)
}
