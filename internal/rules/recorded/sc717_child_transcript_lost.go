package recorded

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var childTranscriptLost = rules.Rule{
	ID: "SC717", Name: "child-transcript-lost", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerComparison, Since: "0.1.0",
	Title: "a delegation was answered, but its sub-session has no messages",
	Run: func(p *rules.Pass) {
		if p.Compared != nil {
			for _, c := range p.Differences().Children {
				if !c.Leaked && !c.Uncalled {
					reportLostChild(p, c)
				}
			}
			return
		}
		for _, s := range p.Subjects {
			for _, d := range s.Replay.Delegations {
				if d.Result < 0 || d.Child == nil || !d.Call().Delegation.Blocking || len(d.Leaked) > 0 || !rules.IsSpeechless(d.Child) || rules.IsKeptElsewhere(d.Child) ||
					slices.ContainsFunc(p.Tree.Sessions, func(in *session.Session) bool {
						return slices.ContainsFunc(in.Items, func(it session.Item) bool { return it.Home() == d.Child.ID })
					}) {
					continue
				}
				f := p.FindSession(d.Child)
				f.Agent, f.Call = d.Call().Delegation.Agent, d.Call().ID
				f.Related = []session.Place{s.ItemPlace(d.Item)}
				f.Message = "call " + rules.CallName(d.Call()) + " was answered, but its sub-session has no messages. The messages that led to the answer are lost."
				p.Report(f)
			}
		}
	},
}

// reportLostChild is the finding about a sub-session that only the recording has:
// at the empty session, else at the call that started it.
func reportLostChild(p *rules.Pass, c *rules.LostChild) {
	lost := c.Sessions[0]
	f := p.FindSession(p.Tree.Root())
	switch {
	case c.Stored != nil:
		f = p.FindSession(c.Stored)
	case c.Asked != nil:
		f = p.FindItem(c.Asked.Session, c.Asked.Item)
		f.Nth = c.Asked.Nth
	}
	if c.Stored != nil && c.Asked != nil {
		f.Related = []session.Place{c.Asked.Session.ItemPlace(c.Asked.Item)}
	}
	f.Agent, f.Count = replay.FirstAgent(lost), len(lost.Items)
	who := ""
	if c.Call != nil {
		f.Call = c.Call.Call().ID
		who = fmt.Sprintf("%s started it with call %s%s", rules.AgentName(c.Call.Caller()), rules.CallName(c.Call.Call()), rules.AtLine(&c.Call.Session.Items[c.Call.Item]))
	}
	f.Message = fmt.Sprintf("sub-session %s of %s is in the recording and not in the store", rules.ShortID(lost.ID), rules.AgentName(f.Agent))
	f.AddSentence(who)
	has := "The recording has " + rules.CountedNoun(len(lost.Items), "item") + " of it"
	if below := len(c.Sessions) - 1; below > 0 {
		has += fmt.Sprintf(", and %s below it", rules.CountedNoun(below, "sub-session"))
	}
	f.AddSentence(has)
	if !c.Completed {
		f.Severity = rules.Info
		f.AddSentence("It never completed, so a runtime may have had nothing to store, and the recording is all that is left of it")
	}
	p.Report(f)
}
