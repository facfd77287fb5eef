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
		for _, s := range p.spawns() {
			p.reportStrays(&s)
		}
		for _, s := range p.isolated() {
			p.reportResult(&s)
		}
	},
}

// reportStrays reports messages of the child's agent, and results of the child's
// calls, that stand in the parent behind the call. Those that the replay takes for a
// leak are SC701 to SC703.
func (p *Pass) reportStrays(s *spawn) {
	strays := s.strays()
	if len(strays) == 0 {
		return
	}
	f := p.find(s.parent.Session, strays[0])
	f.Items, f.Call = strays, s.Call().ID
	f.Related = []Place{{s.parent.ID, s.Item}}
	f.Message = fmt.Sprintf("%s of %s, which call %s asked, in the session of %s: it should get the result alone",
		count(len(strays), "item"), agentName(s.Call().Delegation.Agent), callName(s.Call()), agentName(s.Caller()))
	p.Report(f)
}

// strays are such items before the result of a call that waits for it, or before the
// user, who may speak to any agent, or a handoff.
func (s *spawn) strays() []int {
	asked, end := s.Call().Delegation.Agent, len(s.parent.Items)
	if s.Call().Delegation.Blocking && s.Result >= 0 {
		end = s.Result
	}
	if asked == "" || asked == s.Caller() || s.Caller() == "" || s.parent.rebuilt() {
		return nil
	}
	var list []int
	made := map[string]bool{} // calls of the strays
	for i := s.Item; i < end; i++ {
		it := &s.parent.Items[i]
		if !it.OnWire() || s.parent.Replay.Steps[i].Action != replay.Persist {
			continue
		}
		switch {
		case isPrompt(it), hasHandoff(it):
			return list
		case it.Role == session.Assistant && it.Agent == asked:
			list = append(list, i)
			addIDs(made, it)
		case len(it.Results) > 0 && made[it.Results[0].CallID] && i != s.Result:
			list = append(list, i)
		}
	}
	return list
}

// hasHandoff reports whether an item calls for another agent within its session.
func hasHandoff(it *session.Item) bool {
	for n := range it.Calls {
		if session.IsHandoff(it.Calls[n].Name) {
			return true
		}
	}
	return false
}

// reportResult reports a result that brings more than the child's last answer.
func (p *Pass) reportResult(s *spawn) {
	r, last := s.result(), replay.LastAnswer(s.child.Session)
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
	f := p.find(s.parent.Session, s.Result)
	f.Call = s.Call().ID
	f.Related = []Place{{s.parent.ID, s.Item}}
	if last >= 0 {
		f.Related = append(f.Related, Place{s.child.ID, last})
	}
	f.Message = "the result of call " + callName(s.Call()) + " " + more
	p.Report(f)
}
