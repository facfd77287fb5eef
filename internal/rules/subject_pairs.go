package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// pairCalls sets the pairs of a subject. Where the store's reader puts results behind
// their calls, a late one is in its place. What an archived half leaves alone is no pair
// that is missing something, and a call that waits for somebody may have several
// answers.
func (p *Pass) pairCalls(s *Subject, keep func(i int) bool) {
	s.Pairs = pairing.ClaimResults(s.Items, keep)
	turns := map[int]int{} // by the item with results, the turn that it answers, -1 for several
	for _, pair := range s.Pairs.Pairs {
		if turn, known := turns[pair.Result.Item]; known && turn != pair.Call.Item {
			turns[pair.Result.Item] = -1
		} else {
			turns[pair.Result.Item] = pair.Call.Item
		}
	}
	for i := range s.Pairs.Pairs {
		pair := &s.Pairs.Pairs[i]
		whole := s.last && turns[pair.Result.Item] < 0 // each of its calls gets all its results
		if !whole && (s.gathers && pair.Place == pairing.Late || s.last && pair.Place == pairing.Early) {
			pair.Place = pairing.Adjacent
		}
	}
	if own := FindProfile(p.Store.Profile); own != nil && own.Shape == Flat {
		s.joinResponse()
	}
	if s.last {
		s.answerReused(keep)
	}
	s.Pairs.Extras = slices.DeleteFunc(s.Pairs.Extras, func(e pairing.Extra) bool { return s.isReplaced(s.Pairs, e) })
	p.explainPairs(s)
	archived := func(i int) bool { return s.Items[i].Flags.Has(session.Archived) }
	if len(s.Pairs.Missing)+len(s.Pairs.Orphans) == 0 || !slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Flags.Has(session.Archived) }) {
		return
	}
	full := slices.Clone(s.Items)
	for i := range full {
		full[i].Flags &^= session.Archived
	}
	alone := map[pairing.Occurrence]bool{} // not what has its other half where it is sent, and an archived copy besides
	for _, m := range s.Pairs.Missing {
		alone[m.Call] = true
	}
	for _, at := range s.Pairs.Orphans {
		alone[at] = true
	}
	halves := map[pairing.Occurrence]bool{}
	for _, pair := range pairing.ClaimResults(full, keep).Pairs {
		if archived(pair.Call.Item) != archived(pair.Result.Item) && (alone[pair.Call] || alone[pair.Result]) {
			s.Parted = append(s.Parted, pair)
			halves[pair.Call], halves[pair.Result] = true, true
		}
	}
	s.Pairs.Missing = slices.DeleteFunc(s.Pairs.Missing, func(m pairing.Missing) bool { return halves[m.Call] })
	s.Pairs.Orphans = slices.DeleteFunc(s.Pairs.Orphans, func(at pairing.Occurrence) bool { return halves[at] })
}

// joinResponse takes the calls of one response for one turn, where each is an item of its own: a result
// behind the others is in its place, and a call before them at the end.
func (s *Subject) joinResponse() {
	said := func(it session.Item) bool {
		return it.OnWire() && len(it.Calls)+len(it.Results) == 0 && !it.HasBlock(session.ReasoningBlock)
	}
	for i := range s.Pairs.Pairs {
		pair := &s.Pairs.Pairs[i]
		if pair.Place == pairing.Late && !slices.ContainsFunc(s.Items[pair.Call.Item+1:pair.Result.Item], said) {
			pair.Place = pairing.Adjacent
		}
	}
	last := len(s.Items) - 1
	for ; last >= 0 && !said(s.Items[last]); last-- { // calls and results at the end
	}
	for i := range s.Pairs.Missing {
		m := &s.Pairs.Missing[i]
		m.Tail = m.Tail || m.Call.Item > last
	}
}

// answerReused takes calls with an id that another call has, which is answered, for answered:
// the runtime sends that result behind both.
func (s *Subject) answerReused(keep func(i int) bool) {
	if len(s.Pairs.Missing) == 0 {
		return
	}
	answered := map[string]bool{}
	for i := range s.Items {
		for n := range s.Items[i].Results {
			if id := s.Items[i].Results[n].CallID; id != "" && s.Items[i].OnWire() && keep(i) {
				answered[id] = true
			}
		}
	}
	s.Pairs.Missing = slices.DeleteFunc(s.Pairs.Missing, func(m pairing.Missing) bool { return answered[s.CallAt(m.Call).ID] })
}

// SentPairs is how the runtime's requests pair the calls and results.
func (s *Subject) SentPairs() *pairing.Pairing {
	if !s.last || len(s.Pairs.Extras) == 0 {
		return s.Pairs
	}
	sent := *s.Pairs
	sent.Pairs, sent.Extras = slices.Clone(sent.Pairs), slices.Clone(sent.Extras)
	sent.PreferLast()
	for n := range sent.Pairs {
		sent.Pairs[n].Place = pairing.Adjacent
	}
	return &sent
}

// SendsLast reports whether the runtime sends the last of several results of a call, so that
// no request fails because of the others.
func (s *Subject) SendsLast() bool { return s.last }

// SendsLatest reports whether the runtime's sanitiser does.
func (s *Subject) SendsLatest() bool { return s.Mender != nil && s.Mender.Latest }

// explainPairs leaves the calls and results out whose other half is stored in another session,
// where it does not belong: nothing of them is missing, and it comes back. What belongs to a
// session that nothing tells explains those of all.
func (p *Pass) explainPairs(s *Subject) {
	if len(s.Pairs.Missing)+len(s.Pairs.Orphans) == 0 {
		return
	}
	if p.astray == nil {
		p.astray = map[[2]string]bool{}
		for _, o := range p.Tree.Sessions {
			for i := range o.Items {
				it := &o.Items[i]
				if it.Home() == "" || it.Home() == o.ID || it.Copied {
					continue
				}
				for n := range it.Calls {
					p.astray[[2]string{it.Home(), it.Calls[n].ID}] = true
				}
				for n := range it.Results {
					p.astray[[2]string{it.Home(), it.Results[n].CallID}] = true
				}
			}
		}
	}
	astray := func(id string) bool {
		return p.astray[[2]string{s.ID, id}] || p.astray[[2]string{session.HomeUnknown, id}]
	}
	s.Pairs.Missing = slices.DeleteFunc(s.Pairs.Missing, func(m pairing.Missing) bool { return astray(s.CallAt(m.Call).ID) })
	s.Pairs.Orphans = slices.DeleteFunc(s.Pairs.Orphans, func(at pairing.Occurrence) bool { return astray(s.ResultAt(at).CallID) })
}

// isReplaced reports whether a second result is no second one in a request: that of a
// call which waits is answered by whatever comes last, and where the runtime gathers
// results, an interim one gives way.
func (s *Subject) isReplaced(by *pairing.Pairing, e pairing.Extra) bool {
	return s.CallAt(by.Pairs[e.Pair].Call).Waits || s.gathers && s.ResultAt(e.Result).Pending
}
