package rules

import "github.com/sessctl/sessctl/internal/replay"

var childTranscriptLost = Rule{
	ID: "SC717", Name: "child-transcript-lost", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "a delegation was answered, but its sub-session holds no message",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			for _, d := range s.Replay.Delegations {
				if d.Result < 0 || d.Child == nil || !d.Call().Delegation.Blocking || len(d.Leaked) > 0 || messages(d) > 0 {
					continue
				}
				f := p.findSession(d.Child)
				f.Agent, f.Call = d.Call().Delegation.Agent, d.Call().ID
				f.Related = []Place{{Session: s.ID, Item: d.Item}}
				f.Message = "call " + callName(d.Call()) + " was answered, but the sub-session holds none of the messages that led to it"
				p.Report(f)
			}
		}
	},
}

func messages(d *replay.Delegation) int {
	n := 0
	for i := range d.Child.Items {
		if d.Child.Items[i].OnWire() {
			n++
		}
	}
	return n
}
