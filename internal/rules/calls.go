package rules

import (
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// Delegation is the delegation that an occurrence is the call of, nil for any
// other call.
func (s *Subject) Delegation(at pairing.Occurrence) *replay.Delegation {
	for _, d := range s.Replay.Delegations {
		if d.Item == at.Item && d.Nth == at.Nth {
			return d
		}
	}
	return nil
}

// CallAt is the call of an occurrence.
func (s *Subject) CallAt(at pairing.Occurrence) *session.Call {
	return &s.Items[at.Item].Calls[at.Nth]
}

// ResultAt is the result of an occurrence.
func (s *Subject) ResultAt(at pairing.Occurrence) *session.Result {
	return &s.Items[at.Item].Results[at.Nth]
}

// AnswerPlace is the item behind which a result of the call belongs: the last
// result of its answer group, or the sub-session item of its child. Leaked items
// do not count where they leave.
func (s *Subject) AnswerPlace(at pairing.Occurrence) int {
	return s.AnswerPlaceBefore(len(s.Items), at)
}

// AnswerPlaceBefore is the place of a result of the call that must not stand
// behind the item at index end.
func (s *Subject) AnswerPlaceBefore(end int, at pairing.Occurrence) int {
	place, reference := at.Item, -1
	if d := s.Delegation(at); d != nil {
		reference = d.Reference
	}
	for i := at.Item + 1; i < end; i++ {
		it := &s.Items[i]
		switch {
		case i == reference:
			place = i
		case !it.OnWire() || s.Replay.Steps[i].Action == replay.Skip && !s.undecidableItems()[i]:
		case it.Answers() && !pairing.EndsGroup(it):
			place = i
		default:
			return place
		}
	}
	return place
}

// undecidable are the items that may have leaked, of which nothing tells: they never leave.
type undecidable map[int]bool

func (s *Subject) undecidableItems() undecidable {
	return Once(&s.Known, func() undecidable {
		items := undecidable{}
		for _, d := range s.Replay.Delegations {
			for _, l := range d.Leaked {
				items[l.Item] = items[l.Item] || l.Undecidable
			}
		}
		return items
	})
}

// FindCall starts a finding about one call or result of an item. What stands
// before the next request's start, or in a child that is never sent again, is
// history: the finding is an info and has no repair.
func (p *Pass) FindCall(s *Subject, at pairing.Occurrence, id string) Finding {
	f := p.Find(s.Session, at.Item)
	f.Nth, f.Call = at.Nth, id
	if s.History(at.Item) {
		f.Severity = Info
	}
	return f
}

// History reports whether the item reaches no further request.
func (s *Subject) History(item int) bool { return s.Closed || item < s.Start }

// Because is a sentence that says why a finding is only an info, "" where it is more.
func (s *Subject) Because(item int) string {
	switch {
	case s.Closed:
		return "This sub-session is finished and is never sent to a model again"
	case item < s.Start:
		return "A summary covers this part of the session, so it is not sent to a model again"
	}
	return ""
}

// ReportCall hands over a finding of findCall with its fix.
func (p *Pass) ReportCall(s *Subject, f Finding, fix Fix) {
	f.Then(s.Because(f.Item))
	if s.History(f.Item) {
		f.Failing = nil
		p.Report(f)
		return
	}
	if s.stuck(f.Item, fix) {
		f.Then("It is left in place, because its record has another defect that must be repaired first")
	} else {
		f.Fixes = []Fix{fix}
	}
	if f.Failing == nil {
		f.Failing = func(p *Profile) string { return s.ProviderError(p, f.Item) }
	}
	p.Report(f)
}

// stuck reports whether a fix takes a part out of a record that has a defect of
// its own: which of the two would have it then cannot be told. Text that is no
// Unicode is mended by a repair before. So is what decides which messages are sent, and the
// time of one that stands in a wrong place because of it.
func (s *Subject) stuck(item int, fix Fix) bool {
	about := func(row string) bool {
		return slices.ContainsFunc(fix.Edits, func(e session.Edit) bool { return e.Ref.Row() == row || e.After.Row() == row })
	}
	if slices.ContainsFunc(s.Faults, func(f session.Fault) bool {
		return f.Default != nil && (f.Hides && f.Remedy == "" || f.Position != 0 && about(f.Ref.Row()))
	}) {
		return true
	}
	return slices.ContainsFunc(fix.Edits, func(e session.Edit) bool { return e.Ref.Pointer != "" }) &&
		slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Item == item && f.Kind != session.BadUnicode })
}

// resultRef addresses one result: its item, or its part of an item that holds
// more.
func (s *Subject) resultRef(at pairing.Occurrence) session.Ref {
	ref, it := s.ItemRef(at.Item), &s.Items[at.Item]
	if len(it.Results) > 1 || it.Role != session.Tool {
		ref.Pointer = "/results/" + strconv.Itoa(at.Nth)
	}
	return ref
}

// Quarantine is the fix that takes a result out of the session.
func (s *Subject) Quarantine(at pairing.Occurrence, title string) Fix {
	return Fix{Title: title, Safety: Kept, Edits: []session.Edit{{Op: session.Quarantine, Ref: s.resultRef(at)}}}
}

// MoveResult is the fix that moves a result to its call's answer group.
func (s *Subject) MoveResult(pair pairing.Pair, title string) Fix {
	return s.MoveBehind(pair, s.AnswerPlace(pair.Call), title)
}

// MoveBehind is the fix that moves a result behind the item at index place.
func (s *Subject) MoveBehind(pair pairing.Pair, place int, title string) Fix {
	ref := s.resultRef(pair.Result)
	if s.answersOne(pair) {
		ref.Pointer = ""
	}
	return Fix{Title: title, Safety: Lossless, Edits: []session.Edit{
		{Op: session.Move, Ref: ref, To: s.ID, After: s.ItemRef(place)},
	}}
}

// answersOne reports whether the item of a result holds several, all of which answer
// calls of the pair's turn: then it moves as a whole.
func (s *Subject) answersOne(pair pairing.Pair) bool {
	it, mine := &s.Items[pair.Result.Item], 0
	if it.Role != session.Tool || len(it.Results) < 2 {
		return false
	}
	for _, other := range s.Pairs.Pairs {
		if other.Result.Item == pair.Result.Item && other.Call.Item == pair.Call.Item {
			mine++
		}
	}
	return mine == len(it.Results)
}

// CallRef addresses a call of an item.
func CallRef(s *session.Session, item, nth int) session.CallRef {
	c := &s.Items[item].Calls[nth]
	return session.CallRef{Ref: s.ItemRef(item), ID: c.ID, Nth: nth, Name: c.Name}
}

// AddIDs notes the ids of the calls of an item.
func AddIDs(ids map[string]bool, it *session.Item) {
	for n := range it.Calls {
		ids[it.Calls[n].ID] = true
	}
}

// pair sets the pairs of a subject. Where the store's reader puts results behind
// their calls, a late one is in its place. What an archived half leaves alone is no pair
// that is missing something, and a call that waits for somebody may have several
// answers.
func (p *Pass) pair(s *Subject, keep func(i int) bool) {
	s.Pairs = pairing.Claim(s.Items, keep)
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
	if s.last {
		s.answerReused(keep)
	}
	s.Pairs.Extras = slices.DeleteFunc(s.Pairs.Extras, func(e pairing.Extra) bool { return s.replaced(s.Pairs, e) })
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
	for _, pair := range pairing.Claim(full, keep).Pairs {
		if archived(pair.Call.Item) != archived(pair.Result.Item) && (alone[pair.Call] || alone[pair.Result]) {
			s.Parted = append(s.Parted, pair)
			halves[pair.Call], halves[pair.Result] = true, true
		}
	}
	s.Pairs.Missing = slices.DeleteFunc(s.Pairs.Missing, func(m pairing.Missing) bool { return halves[m.Call] })
	s.Pairs.Orphans = slices.DeleteFunc(s.Pairs.Orphans, func(at pairing.Occurrence) bool { return halves[at] })
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
				if it.Home == "" || it.Home == o.ID || it.Copied {
					continue
				}
				for n := range it.Calls {
					p.astray[[2]string{it.Home, it.Calls[n].ID}] = true
				}
				for n := range it.Results {
					p.astray[[2]string{it.Home, it.Results[n].CallID}] = true
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

// replaced reports whether a second result is no second one in a request: that of a
// call which waits is answered by whatever comes last, and where the runtime gathers
// results, an interim one gives way.
func (s *Subject) replaced(by *pairing.Pairing, e pairing.Extra) bool {
	return s.CallAt(by.Pairs[e.Pair].Call).Waits || s.gathers && s.ResultAt(e.Result).Pending
}
