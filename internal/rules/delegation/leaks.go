package delegation

import (
	"fmt"

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

// findLeak words what all leak rules share: which items, whose, where the call
// is, and what else the leak breaks.
func findLeak(p *rules.Pass, s *rules.Subject, d *replay.Delegation) rules.Finding {
	f := p.Find(s.Session, d.Leaked[0].Item)
	f.Call = d.Call().ID
	f.Items = nil
	undecidable := 0
	for _, l := range d.Leaked {
		f.Items = append(f.Items, l.Item)
		if l.Item != f.Item {
			f.Related = append(f.Related, s.At(l.Item))
		}
		if l.Twin != nil {
			f.Twins = append(f.Twins, l.Twin.Session.At(l.Twin.Item))
		}
		if l.Undecidable {
			undecidable++
		}
	}
	if s.Closed && !decidable(d) {
		f.Severity = rules.Info
	}
	n := len(d.Leaked)
	f.Message = fmt.Sprintf("%s of %s, asked by %s with call %s, %s in this session",
		rules.Count(n, "message"), agents(s, d), rules.AgentName(d.Caller()), d.Call().ID, rules.Verb(n, "stands", "stand"))
	f.Message += s.Because(f.Item)
	if !s.History(f.Item) {
		f.Failing = func(profile *rules.Profile) string { return s.ProviderError(profile, min(d.Item, f.Item)) }
	}
	if undecidable > 0 {
		f.Message += fmt.Sprintf("; %d of them %s the caller's own name and %s no copy, so whose %s cannot be decided: %s never moved",
			undecidable, rules.Verb(undecidable, "carries", "carry"), rules.Verb(undecidable, "has", "have"),
			rules.Verb(undecidable, "it is", "they are"), rules.Verb(undecidable, "it is", "they are"))
	}
	return f
}

// agents names the agents whose items leaked: `"worker"`.
func agents(s *rules.Subject, d *replay.Delegation) string {
	var names []string
	seen := map[string]bool{}
	for _, l := range d.Leaked {
		if a := s.Items[l.Item].Agent; !seen[a] {
			seen[a] = true
			names = append(names, rules.AgentName(a))
		}
	}
	return rules.List(names)
}

// breaks says what else the leak does: that it parts its call from the result,
// and which calls came with it without a result. Those are consequences, not
// findings of their own.
func breaks(s *rules.Subject, d *replay.Delegation) string {
	var effects []string
	n := len(d.Leaked)
	at := pairing.Occurrence{Item: d.Item, Nth: d.Nth}
	for _, pair := range s.Stored().Pairs {
		if pair.Call == at && pair.Place != pairing.Adjacent {
			effects = append(effects, rules.Verb(n, "parts", "part")+" that call from its result")
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
	switch {
	case len(unanswered) > 3:
		effects = append(effects, fmt.Sprintf("%s %d calls unanswered", rules.Verb(n, "leaves", "leave"), len(unanswered)))
	case len(unanswered) > 0:
		effects = append(effects, rules.Verb(n, "leaves ", "leave ")+rules.List(unanswered)+" unanswered")
	}
	if len(effects) == 0 {
		return ""
	}
	return ". " + rules.Verb(n, "It ", "They ") + rules.List(effects)
}
