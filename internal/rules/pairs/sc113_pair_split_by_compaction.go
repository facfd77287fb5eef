package pairs

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var pairSplitByCompaction = rules.Rule{
	ID: "SC113", Name: "pair-split-by-compaction", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a summary boundary separates a call from its result",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		for _, pair := range s.Pairs.Pairs {
			if isSplit(s, pair) {
				reportSplit(p, s, pair)
			}
		}
	}),
}

// isSplit reports whether the next request would hold only one half of the pair.
func isSplit(s *rules.Subject, pair pairing.Pair) bool {
	return (pair.Call.Item < s.Start) != (pair.Result.Item < s.Start)
}

func reportSplit(p *rules.Pass, s *rules.Subject, pair pairing.Pair) {
	kept, held, gone := pair.Result, "result", "call"
	if pair.Result.Item < s.Start {
		kept, held, gone = pair.Call, "call", "result"
	}
	f := p.FindCall(s, kept, s.CallAt(pair.Call).ID)
	f.Related = []session.Place{s.ItemPlace(min(pair.Call.Item, pair.Result.Item))}
	f.Message = fmt.Sprintf("call %s and its result are separated by the summary at item %d", rules.CallName(s.CallAt(pair.Call)), s.LastSummary())
	f.AddSentence("The next request holds the " + held + " without the " + gone)
	if does := p.Store.Adapts["SC113"]; does != "" {
		f.Severity = rules.Info
		f.AddSentence(p.Store.Title + " " + does)
	}
	p.ReportCall(s, f, unsplitFix(s, pair))
}

// unsplitFix is the fix that puts both halves of a pair on one side of the start:
// the tail begins with the earlier half or, where it cannot, behind the later
// one. A summary that keeps no tail has no number to change: the result moves.
func unsplitFix(s *rules.Subject, pair pairing.Pair) rules.Fix {
	last := s.LastSummary()
	switch {
	case s.Start > last && pair.Call.Item < last:
		return s.MoveBehind(pair, s.AnswerPlaceBefore(last, pair.Call), "move the result next to its call, before the summary")
	case s.Start > last:
		return s.MoveResult(pair, "move the result next to its call, after the summary")
	}
	first := min(pair.Call.Item, pair.Result.Item)
	if entry := entryOf(s, first); entry > 0 && first >= coveredStart(s, last) {
		return moveBoundary(s, last, entry)
	}
	return moveBoundary(s, last, safeBoundary(s, last, max(pair.Call.Item, pair.Result.Item)))
}

// entryOf is the index of an item in the list that the reader loads.
func entryOf(s *rules.Subject, item int) int {
	for n, i := range s.LoadedIndexes() {
		if i == item {
			return n
		}
	}
	return 0
}
