package branches

import (
	"iter"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var activeViewUnpaired = rules.Rule{
	ID: "SC725", Name: "active-view-unpaired", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call is archived and its result is not, or the reverse",
	Run: func(p *rules.Pass) {
		archived := map[*rules.Subject][]int{} // the halves of each session that are to be sent again
		for s, pair := range partedPairs(p) {
			if sent, gone := partedHalves(s, pair); !s.IsHistory(sent.Item) {
				whole, item := inSession(s, gone.Item)
				archived[whole] = append(archived[whole], item)
			}
		}
		fixes := map[*rules.Subject]rules.Fix{}
		for whole, items := range archived {
			fixes[whole] = reviveFix(whole, items)
		}
		for s, pair := range partedPairs(p) {
			whole, _ := inSession(s, pair.Call.Item)
			reportParted(p, s, pair, fixes[whole])
		}
	},
}

// partedPairs yields the pairs of which one half is archived, of every viewer.
func partedPairs(p *rules.Pass) iter.Seq2[*rules.Subject, pairing.Pair] {
	return func(yield func(*rules.Subject, pairing.Pair) bool) {
		for _, s := range p.Viewers {
			for _, pair := range s.Parted {
				if !yield(s, pair) {
					return
				}
			}
		}
	}
}

// partedHalves are the half of a parted pair that is sent and the one that is archived.
func partedHalves(s *rules.Subject, pair pairing.Pair) (sent, gone pairing.Occurrence) {
	if s.Items[pair.Call.Item].Flags.Has(session.Archived) {
		return pair.Result, pair.Call
	}
	return pair.Call, pair.Result
}

func reportParted(p *rules.Pass, s *rules.Subject, pair pairing.Pair, fix rules.Fix) {
	sent, gone := partedHalves(s, pair)
	f := p.FindCall(s, sent, s.CallAt(pair.Call).ID)
	f.Related = []session.Place{s.ItemPlace(gone.Item)}
	call := "call " + rules.CallName(s.CallAt(pair.Call))
	f.Message = "the result of " + call + " is archived, but the call is not. The next request contains a call without its result."
	if gone == pair.Call {
		f.Message = call + " is archived, but its result is not. The next request contains a result without its call."
		if p.Store.ByChain {
			fix = s.QuarantineResult(sent, "remove the result; the receipt keeps it")
		}
	}
	if p.Store.Hides {
		fix = followFix(s, pair)
	}
	p.ReportCall(s, f, fix)
}

// followFix is the fix that gives both halves the state of the message before them, where a
// runtime hides messages by themselves: it may have hidden all but this half.
func followFix(s *rules.Subject, pair pairing.Pair) rules.Fix {
	before := min(pair.Call.Item, pair.Result.Item) - 1
	hidden := before >= 0 && s.Items[before].Flags.Has(session.Archived)
	fix, value := rules.Fix{Title: "send both, like the message before them", Safety: rules.Lossless}, strconv.FormatBool(hidden)
	if hidden {
		fix.Title = "hide both, like the message before them"
	}
	for _, half := range []int{pair.Call.Item, pair.Result.Item} {
		if s.Items[half].Flags.Has(session.Archived) != hidden {
			fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: s.ItemRef(half), Field: session.FieldArchived, Value: &value})
		}
	}
	return fix
}

// inSession is the session that a subject is a viewer of, and where an item stands there.
func inSession(s *rules.Subject, item int) (whole *rules.Subject, at int) {
	if s.Whole == nil {
		return s, item
	}
	return s.Whole, s.Indexes[item]
}

// reviveFix is the fix that sends the whole turns of archived items again: a turn is
// archived as a whole or not at all. What would stand before a summary then moves
// behind it, with what stands there already: see SC726. All findings of a session
// have the one fix, because a second one could not know what the first one moved.
func reviveFix(s *rules.Subject, items []int) rules.Fix {
	fix := rules.Fix{Title: "send the whole turn again, its archived messages included", Safety: rules.Lossless}
	again := map[int]bool{}
	for _, item := range items {
		if _, seen := again[item]; seen {
			continue
		}
		first, end := turnAround(s, item)
		for i := first; i < end; i++ {
			flags := s.Items[i].Flags
			again[i] = flags.Has(session.Archived) && !flags.Has(session.SummaryTurn)
		}
	}
	summary, active := lastSummaryTurn(s), "false"
	late, early := lateMessages(s, summary), false
	for i := range s.Items {
		if !again[i] {
			continue
		}
		fix.Edits = append(fix.Edits, session.Edit{Op: session.Set, Ref: s.ItemRef(i), Field: session.FieldArchived, Value: &active})
		if i < summary {
			late, early = append(late, i), true
		}
	}
	if early {
		slices.Sort(late)
		fix.Edits = append(fix.Edits, moveBehindSummary(s, late, summary)...)
	}
	return fix
}

// turnAround is where the turn begins and ends that holds an item. A turn begins
// with what the user says to nobody's branch; what stands before the first is one,
// too.
func turnAround(s *rules.Subject, item int) (first, end int) {
	begins := func(i int) bool {
		it := &s.Items[i]
		return it.Kind == session.Message && it.Role == session.User && !it.IsAnswer() && it.Branch() == "" && !it.Flags.Has(session.SummaryTurn)
	}
	first, end = item, item+1
	for first > 0 && !begins(first) {
		first--
	}
	for end < len(s.Items) && !begins(end) {
		end++
	}
	return first, end
}
