package delegation

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

// eachLeak calls fn for every delegation that leaked into its caller's session
// and whose state is the one wanted.
func eachLeak(p *rules.Pass, want leakState, fn func(s *rules.Subject, d *replay.Delegation)) {
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			if len(d.Leaked) > 0 && stateOf(d) == want {
				fn(s, d)
			}
		}
	}
}

// leakState says what the child of a leak holds.
type leakState uint8

const (
	childComplete leakState = iota // a twin of every leaked item: SC701
	childLacks                     // some or all are the only copy: SC702
	childMissing                   // there is no child session: SC703
)

func stateOf(d *replay.Delegation) leakState {
	if d.Child == nil {
		return childMissing
	}
	for _, l := range d.Leaked {
		if l.Twin == nil {
			return childLacks
		}
	}
	return childComplete
}

// findLeak begins a finding of a leak rule: which items it is about, and in a sentence of
// which the rule adds the end, whose messages they are.
func findLeak(p *rules.Pass, s *rules.Subject, d *replay.Delegation) rules.Finding {
	f := p.Find(s.Session, d.Leaked[0].Item)
	f.Call = d.Call().ID
	f.Items = nil
	for _, l := range d.Leaked {
		f.Items = append(f.Items, l.Item)
		if l.Item != f.Item {
			f.Related = append(f.Related, s.At(l.Item))
		}
		if l.Twin != nil {
			f.Twins = append(f.Twins, l.Twin.Session.At(l.Twin.Item))
		}
	}
	if s.Closed && !decidable(d) {
		f.Severity = rules.Info
	}
	n := len(d.Leaked)
	f.Message = rules.Count(n, "message") + " of " + agents(s, d) + rules.Verb(n, " is", " are") + " stored "
	if !s.History(f.Item) {
		f.Failing = func(profile *rules.Profile) string { return s.ProviderError(profile, min(d.Item, f.Item)) }
	}
	return f
}

// reportLeak ends the finding with what else the leak does, and reports it.
func reportLeak(p *rules.Pass, s *rules.Subject, d *replay.Delegation, f rules.Finding) {
	undecidable := 0
	for _, l := range d.Leaked {
		if l.Undecidable {
			undecidable++
		}
	}
	f.Then(effects(s, d))
	switch {
	case undecidable == 1:
		f.Then(rules.Verb(len(d.Leaked), "It", "1 of them") + " has the caller's name and no copy, so sessctl cannot tell whose it is and never moves it")
	case undecidable > 1:
		f.Then(fmt.Sprintf("%d of them have the caller's name and no copy, so sessctl cannot tell whose they are and never moves them", undecidable))
	}
	f.Then(s.Because(f.Item))
	p.Report(f)
}

// agents names the agents whose items leaked: `sub-agent "worker"`, and `"root"` where that
// is the name of the caller, too.
func agents(s *rules.Subject, d *replay.Delegation) string {
	var names []string
	seen := map[string]bool{}
	for _, l := range d.Leaked {
		if a := s.Items[l.Item].Agent; !seen[a] {
			seen[a] = true
			names = append(names, rules.AgentName(a))
		}
	}
	if seen[""] || seen[d.Caller()] {
		return rules.List(names)
	}
	return rules.Verb(len(names), "sub-agent ", "sub-agents ") + rules.List(names)
}

// effects says what else the leak does: that it separates its call from the result,
// and which calls came with it without a result. Those are consequences, not
// findings of their own.
func effects(s *rules.Subject, d *replay.Delegation) string {
	who := rules.Verb(len(d.Leaked), "It", "They")
	text := fmt.Sprintf("%s %s to call %s of %s", who, rules.Verb(len(d.Leaked), "belongs", "belong"), d.Call().ID, rules.AgentName(d.Caller()))
	at := pairing.Occurrence{Item: d.Item, Nth: d.Nth}
	for _, pair := range s.Stored().Pairs {
		if pair.Call == at && pair.Place != pairing.Adjacent {
			text = fmt.Sprintf("Here %s %s call %s from its result", strings.ToLower(who), rules.Verb(len(d.Leaked), "separates", "separate"), d.Call().ID)
		}
	}
	leaked := map[int]bool{}
	for _, l := range d.Leaked {
		leaked[l.Item] = true
	}
	var unanswered []string
	for _, m := range s.Stored().Missing {
		if leaked[m.Call.Item] {
			unanswered = append(unanswered, rules.CallName(s.CallAt(m.Call)))
		}
	}
	switch n := len(unanswered); {
	case n > 3:
		text += fmt.Sprintf(", and %d calls have no result", n)
	case n > 0:
		text += ", and " + rules.List(unanswered) + rules.Verb(n, " has", " have") + " no result"
	}
	return text
}
