package pairs

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// reuse is a call with an id that an earlier call has.
type reuse struct {
	at, first pairing.Occurrence // first keeps the id
	sameTurn  bool               // an earlier call of the same turn has it too
	name      string             // the id that a repair gives it, "" when whose results are whose cannot be told
	results   []pairing.Occurrence
}

// listReuses lists the calls with an id that was used before, in order. An id that
// only history has used is free again; calls without an id have none to share.
func listReuses(s *rules.Subject) []reuse {
	type use struct {
		call pairing.Occurrence // that keeps the id
		turn int                // the last one with a call that has it
	}
	var list []reuse
	used := make(map[string]use, len(s.Pairs.Pairs))
	for i := range s.Items {
		if !s.OnWire(i) || s.Items[i].Copied && s.Items[i].Home() == s.ID { // SC106 takes it out
			continue
		}
		for n := range s.Items[i].Calls {
			c, at := &s.Items[i].Calls[n], pairing.Occurrence{Item: i, Nth: n}
			if c.ID == "" || c.Server {
				continue
			}
			known, again := used[c.ID]
			if again && (s.IsHistory(i) || !s.IsHistory(known.call.Item)) {
				list = append(list, reuse{at: at, first: known.call, sameTurn: known.turn == i})
			} else {
				known.call = at
			}
			known.turn = i
			used[c.ID] = known
		}
	}
	renameReuses(s, list)
	return list
}

// renameReuses chooses the new ids, the same whichever rule asks.
func renameReuses(s *rules.Subject, list []reuse) {
	if len(list) == 0 {
		return
	}
	results, names := resultsByCall(s), newNamesOf(s)
	var told map[string]bool
	for n := range list {
		u := &list[n]
		if n == 0 || u.at.Item != list[n-1].at.Item {
			told = toldApart(s, u.at.Item, results)
		}
		if u.results = results[u.at]; !s.IsHistory(u.at.Item) && told[s.CallAt(u.at).ID] {
			u.name = names.repeatedID(s.CallAt(u.at).ID)
		}
	}
}

// toldApart says of every id in a turn whether it can be told which result answers
// which of its calls: it can by their order, unless several calls share the id
// and one has no result or one of another tool.
func toldApart(s *rules.Subject, turn int, results map[pairing.Occurrence][]pairing.Occurrence) map[string]bool {
	type sharing struct {
		tool                                    string // of the first call
		calls, otherTools, unanswered, mistaken int
	}
	byID := map[string]sharing{}
	for n := range s.Items[turn].Calls {
		c := &s.Items[turn].Calls[n]
		if c.Server {
			continue
		}
		sh := byID[c.ID]
		if sh.calls == 0 {
			sh.tool = c.Name
		}
		sh.calls++
		if c.Name != sh.tool {
			sh.otherTools++
		}
		answers := results[pairing.Occurrence{Item: turn, Nth: n}]
		if len(answers) == 0 {
			sh.unanswered++
		} else if name := s.ResultAt(answers[0]).Name; name != "" && name != c.Name {
			sh.mistaken++
		}
		byID[c.ID] = sh
	}
	told := make(map[string]bool, len(byID))
	for id, sh := range byID {
		told[id] = sh.calls == 1 || sh.mistaken == 0 && (sh.unanswered == 0 || sh.otherTools == 0)
	}
	return told
}

// renameFix is the fix that gives a call its own id, and the results that are its.
func renameFix(p *rules.Pass, s *rules.Subject, u reuse) rules.Fix {
	if isEcho(p, s, u.at.Item) {
		return rules.Fix{Title: "remove the copy; the receipt keeps it", Safety: rules.Kept, Edits: []session.Edit{{Op: session.Quarantine, Ref: s.ItemRef(u.at.Item)}}}
	}
	if u.name == "" {
		return rules.Fix{Title: "decide which result answers which call: they share an id", Safety: rules.Manual}
	}
	fix := rules.Fix{Title: "give the call the id " + rules.QuoteText(u.name), Safety: rules.Lossless, Edits: []session.Edit{s.NameCall(u.at, u.name)}}
	for _, at := range u.results {
		fix.Edits = append(fix.Edits, s.NameResult(at, u.name))
	}
	if len(u.results) > 0 {
		fix.Title = "give the call and its result the id " + rules.QuoteText(u.name)
	}
	return fix
}

// isEcho reports whether an item says all that an earlier one said, calls with their ids included, and
// nothing answers its calls: the runtime stored it twice. Where calls can get other ids, that is done instead.
func isEcho(p *rules.Pass, s *rules.Subject, item int) bool {
	type echoes map[int]bool
	return p.Store.KeepsIDs && rules.ComputeOnce(&s.Known, func() echoes {
		open, said, found := map[int]int{}, map[session.Digest]bool{}, echoes{}
		for _, m := range s.Pairs.Missing {
			open[m.Call.Item]++
		}
		for i := range s.Items {
			if it := &s.Items[i]; len(it.Calls) > 0 && it.Meaning != 0 && it.OnWire() {
				found[i] = said[it.Meaning] && open[i] == len(it.Calls)
				said[it.Meaning] = true
			}
		}
		return found
	})[item]
}

// reportReuses reports the calls whose id is used before, in the same turn or in
// an earlier one.
func reportReuses(p *rules.Pass, sameTurn bool, message string) {
	for _, s := range p.Viewers {
		for _, u := range listReuses(s) {
			if u.sameTurn != sameTurn {
				continue
			}
			f := p.FindCall(s, u.at, s.CallAt(u.at).ID)
			f.Message = "call " + rules.CallName(s.CallAt(u.at)) + message
			f.AddSentence(s.HistoryReason(u.at.Item))
			f.Related = []session.Place{s.ItemPlace(u.first.Item)}
			if !s.IsHistory(u.at.Item) {
				f.Fixes, f.Failing = []rules.Fix{renameFix(p, s, u)}, p.CallError(s, u.at)
			}
			p.Report(f)
		}
	}
}

// newNames gives out ids that nothing in a session has.
type newNames struct {
	taken    map[string]bool
	last     map[string]int // the number that an id was given last
	profiles []*rules.Profile
}

func newNamesOf(s *rules.Subject) *newNames {
	names := &newNames{taken: map[string]bool{}, last: map[string]int{}, profiles: s.Profiles}
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			names.taken[s.Items[i].Calls[n].ID] = true
		}
		for n := range s.Items[i].Results {
			names.taken[s.Items[i].Results[n].CallID] = true
		}
	}
	return names
}

// repeatedID is the id of a call whose own is taken: "<id>_dup<n>".
func (names *newNames) repeatedID(id string) string {
	for {
		names.last[id]++
		if name := names.suitedID(id, id+"_dup"+strconv.Itoa(names.last[id])); !names.taken[name] {
			names.taken[name] = true
			return name
		}
	}
}

// suitedID is the new id of a call in a form that every provider takes that took
// the old one; where there was none, that every provider takes.
func (names *newNames) suitedID(old, id string) string {
	for _, p := range names.profiles {
		if (old == "" || rules.FitsForm(p.CallID, old)) && !rules.FitsForm(p.CallID, id) {
			id = rules.ReformedText(p.CallID, id, 0)
		}
	}
	return id
}

// plainID is an id for a call that has none: "call_<item>_<nth>".
func (names *newNames) plainID(item, nth int) string {
	id := names.suitedID("", "call_"+strconv.Itoa(item)+"_"+strconv.Itoa(nth))
	if names.taken[id] {
		return names.repeatedID(id)
	}
	names.taken[id] = true
	return id
}
