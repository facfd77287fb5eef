package isolation

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

// isolatedSpawns are the delegations whose child has a start of its own to judge: no other
// delegation has it, it served no more than one request, it does not say that it is a
// copy, SC708 does not say so either, and no repair rebuilt it: what was lost can have explained
// the rest.
func isolatedSpawns(p *rules.Pass) []delegation.Spawn {
	var list []delegation.Spawn
	for _, s := range delegation.OwnSpawns(p) {
		told := slices.Contains(s.From.Children, s.To.Session) && len(delegation.CopiedFrom(s.From.Session, s.To.Session)) >= delegation.LeastCopied
		if !told && !s.To.Forked && len(s.To.Runs) < 2 && !replay.IsRebuilt(s.To.Session) {
			list = append(list, s)
		}
	}
	return list
}

// findInChild starts a finding about items of a child, with the call that started it.
func findInChild(p *rules.Pass, s *delegation.Spawn, items []int) rules.Finding {
	f := p.FindItems(s.To.Session, items)
	f.Call, f.Related = s.Call().ID, []session.Place{s.From.ItemPlace(s.Item)}
	return f
}

// findResult starts a finding about the result of a call, with the call.
func findResult(p *rules.Pass, s *delegation.Spawn, what string) rules.Finding {
	f := p.FindItem(s.From.Session, s.Final)
	f.Call, f.Related = s.Call().ID, []session.Place{s.From.ItemPlace(s.Item)}
	f.Message = "the result of call " + rules.CallName(s.Call()) + " " + what
	return f
}

// isOlder reports whether an item is older than the call that started its session, by more
// than times can be wrong.
func isOlder(s *delegation.Spawn, it *session.Item) bool {
	called := s.From.Items[s.Item].Time
	return !it.Time.IsZero() && !called.IsZero() && it.Time.Before(called.Add(-timeResolution))
}

// inheritedPairs are the messages and results of the child that are its parent's: the
// parent has them from before the delegation, and the child did not make them itself.
// Being equal is not enough. Providers give the same ids again, and an agent may do
// the same twice.
func inheritedPairs(s delegation.Spawn) []delegation.CopiedPair {
	var pairs []delegation.CopiedPair
	copied := map[int]bool{}
	add := func(child, parent int, known bool) {
		if known && parent < s.Item && !copied[child] {
			pairs, copied[child] = append(pairs, delegation.CopiedPair{Parent: parent, Child: child}), true
		}
	}
	for _, i := range strangeItems(&s) {
		from, known := pastOf(s.From).findMessage(&s.To.Items[i])
		add(i, from, known)
	}
	answer := func(at pairing.Occurrence) {
		if r := s.To.ResultAt(at); isEvidence(r) {
			from, known := pastOf(s.From).answers[answered{r.CallID, r.Digest}]
			add(at.Item, from, known)
		}
	}
	for _, orphan := range s.To.Pairs.Orphans {
		answer(orphan)
	}
	if len(copied) > 0 {
		for _, pair := range s.To.Pairs.Pairs {
			if copied[pair.Call.Item] {
				answer(pair.Result)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b delegation.CopiedPair) int { return cmp.Compare(a.Child, b.Child) })
	return pairs
}

// strangeItems are the assistant items of the child that it can hardly have said itself:
// they are older than the delegation, or another agent's to which nothing in the child
// handed over.
func strangeItems(s *delegation.Spawn) []int {
	var list []int
	own, handedOver := ownAgents(s), false
	for i, it := range s.To.OwnItems() {
		if it.Role != session.Assistant || !it.OnWire() {
			continue
		}
		foreign := it.Agent() != "" && len(own) > 0 && !handedOver && !slices.Contains(own, it.Agent())
		if foreign || isOlder(s, it) {
			list = append(list, i)
			continue
		}
		handedOver = handedOver || passesOn(it)
	}
	return list
}

// ownAgents are the names that the child's own agent goes by: the one that was asked.
// A store may call it otherwise in its messages (kagent: by its name without the
// namespace), and some delegations name nobody (a skill is the caller's own); then it
// is the one that spoke last before somebody handed over.
func ownAgents(s *delegation.Spawn) []string {
	asked := slices.DeleteFunc([]string{s.Call().Delegation.Agent, s.To.Agent}, func(name string) bool { return name == "" })
	last, handedOver := "", false
	for _, it := range s.To.OwnItems() {
		if it.Role != session.Assistant || it.Agent() == "" {
			continue
		}
		if slices.Contains(asked, it.Agent()) {
			return asked
		}
		if !handedOver {
			last = it.Agent()
		}
		handedOver = handedOver || passesOn(it)
	}
	if last == "" {
		return asked
	}
	return append(asked, last)
}

// past is what the agents of a session said, what their tools answered and what the
// user asked: the first item of each, by what it says.
type past struct {
	said    map[session.Digest]int
	calls   map[called]int // where the texts are loaded
	answers map[answered]int
	asked   map[session.Digest]int
}

// called is a call with all that it says.
type called struct{ id, tool, args string }

// answered is a result with what it says.
type answered struct {
	call string
	text session.Digest
}

// pastOf is made once a session, and only where a child has something that does not
// look like its own. What leaked into the session is not its own either.
func pastOf(s *rules.Subject) *past {
	return rules.ComputeOnce(&s.Known, func() *past {
		found := &past{map[session.Digest]int{}, map[called]int{}, map[answered]int{}, map[session.Digest]int{}}
		for i, it := range s.OwnItems() {
			if !it.OnWire() {
				continue
			}
			if it.Role == session.Assistant && it.Meaning != 0 {
				noteFirst(found.said, it.Meaning, i)
			}
			if it.Role == session.User && it.Meaning != 0 {
				noteFirst(found.asked, it.Meaning, i)
			}
			for n := range it.Calls {
				if c := &it.Calls[n]; c.ID != "" && c.Args != "" {
					noteFirst(found.calls, called{c.ID, c.Name, c.Args}, i)
				}
			}
			for n := range it.Results {
				if r := &it.Results[n]; isEvidence(r) {
					noteFirst(found.answers, answered{r.CallID, r.Digest}, i)
				}
			}
		}
		return found
	})
}

// noteFirst notes the index for a key that has none.
func noteFirst[K comparable](known map[K]int, key K, i int) {
	if _, is := known[key]; !is {
		known[key] = i
	}
}

// findMessage finds the message that says the same as another session's, or that makes
// one of its calls.
func (p *past) findMessage(it *session.Item) (i int, known bool) {
	if i, known = p.said[it.Meaning]; known {
		return i, true
	}
	for n := range it.Calls {
		c := &it.Calls[n]
		if i, known = p.calls[called{c.ID, c.Name, c.Args}]; known {
			return i, true
		}
	}
	return 0, false
}

// isEvidence reports whether a result says something that two calls do not get alike:
// errors, placeholders and results without a text or an id are no evidence.
func isEvidence(r *session.Result) bool {
	return r.CallID != "" && r.Digest != 0 && !r.IsError && !r.Synthetic && !r.Pending
}
