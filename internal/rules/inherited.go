package rules

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// isolated are the delegations whose child has a start of its own to judge: no other
// delegation has it, it served no more than one request, it does not say that it is a
// copy, SC708 does not say so either, and no repair rebuilt it.
func (p *Pass) isolated() []spawn {
	var list []spawn
	for _, s := range p.ownSpawns() {
		told := slices.Contains(s.parent.Children, s.child.Session) && len(copiedFrom(s.parent.Session, s.child.Session)) >= leastCopied
		if !told && !s.child.Forked && len(s.child.Runs) < 2 && !s.child.rebuilt() {
			list = append(list, s)
		}
	}
	return list
}

// rebuilt reports whether a repair made the session from what had leaked of it: what
// was lost can have explained the rest.
func (s *Subject) rebuilt() bool { return len(s.Items) > 0 && s.Items[0].Flags.Has(session.Synthetic) }

// inherited are the messages and results of the child that are its parent's: the
// parent has them from before the delegation, and the child did not make them itself.
// Being equal is not enough. Providers give the same ids again, and an agent may do
// the same twice.
func (p *Pass) inherited(s spawn) []copiedPair {
	var pairs []copiedPair
	copied := map[int]bool{}
	add := func(child, parent int, known bool) {
		if known && parent < s.Item && !copied[child] {
			pairs, copied[child] = append(pairs, copiedPair{parent, child}), true
		}
	}
	for _, i := range s.strange() {
		from, known := s.parent.pastOf().message(&s.child.Items[i])
		add(i, from, known)
	}
	answer := func(at pairing.Occurrence) {
		if r := s.child.result(at); tells(r) {
			from, known := s.parent.pastOf().answers[answered{r.CallID, r.Digest}]
			add(at.Item, from, known)
		}
	}
	for _, orphan := range s.child.Pairs.Orphans {
		answer(orphan)
	}
	if len(copied) > 0 {
		for _, pair := range s.child.Pairs.Pairs {
			if copied[pair.Call.Item] {
				answer(pair.Result)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b copiedPair) int { return cmp.Compare(a.child, b.child) })
	return pairs
}

// strange are the assistant items of the child that it can hardly have said itself:
// they are older than the delegation, by more than times can be wrong, or another
// agent's to which nothing in the child handed over.
func (s *spawn) strange() []int {
	var list []int
	own, handedOver := s.ownAgents(), false
	called := s.parent.Items[s.Item].Time.Add(-timeResolution)
	for i := range s.child.Items {
		it := &s.child.Items[i]
		if it.Role != session.Assistant || !it.OnWire() || s.child.Replay.Steps[i].Action != replay.Persist {
			continue
		}
		early := !it.Time.IsZero() && it.Time.Before(called)
		foreign := it.Agent != "" && len(own) > 0 && !handedOver && !slices.Contains(own, it.Agent)
		if early || foreign {
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
func (s *spawn) ownAgents() []string {
	asked := slices.DeleteFunc([]string{s.Call().Delegation.Agent, s.child.Agent}, func(name string) bool { return name == "" })
	last, handedOver := "", false
	for i := range s.child.Items {
		it := &s.child.Items[i]
		if it.Role != session.Assistant || it.Agent == "" || s.child.Replay.Steps[i].Action != replay.Persist {
			continue
		}
		if slices.Contains(asked, it.Agent) {
			return asked
		}
		if !handedOver {
			last = it.Agent
		}
		handedOver = handedOver || passesOn(it)
	}
	if last == "" {
		return asked
	}
	return append(asked, last)
}
