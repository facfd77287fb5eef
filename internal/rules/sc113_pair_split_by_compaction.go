package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var pairSplitByCompaction = Rule{
	ID: "SC113", Name: "pair-split-by-compaction", Severity: Error, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "a summary boundary parts a call from its result",
	Run: func(p *Pass) {
		for _, s := range p.Voices {
			for _, pair := range s.Pairs.Pairs {
				if s.split(pair) {
					reportSplit(p, s, pair)
				}
			}
		}
	},
}

// split reports whether the next request would hold only one half of the pair.
func (s *Subject) split(pair pairing.Pair) bool {
	return (pair.Call.Item < s.Start) != (pair.Result.Item < s.Start)
}

func reportSplit(p *Pass, s *Subject, pair pairing.Pair) {
	kept, gone := pair.Result, "call"
	if pair.Result.Item < s.Start {
		kept, gone = pair.Call, "result"
	}
	f := p.findCall(s, kept, s.call(pair.Call).ID)
	f.Related = []session.Place{s.At(min(pair.Call.Item, pair.Result.Item))}
	f.Message = fmt.Sprintf("the summary at item %d parts call %s from its result: the next request holds one without its %s",
		s.LastSummary(), callName(s.call(pair.Call)), gone)
	p.reportCall(s, f, s.unsplit(pair))
}

// unsplit is the fix that puts both halves of a pair on one side of the start:
// the tail begins with the earlier half or, where it cannot, behind the later
// one. A summary that keeps no tail has no number to change: the result moves.
func (s *Subject) unsplit(pair pairing.Pair) Fix {
	last := s.LastSummary()
	switch {
	case s.Start > last && pair.Call.Item < last:
		return s.moveBehind(pair, s.answerPlaceBefore(last, pair.Call), "move the result next to its call, before the summary")
	case s.Start > last:
		return s.moveResult(pair, "move the result next to its call, behind the summary")
	}
	first := min(pair.Call.Item, pair.Result.Item)
	if entry := s.entryOf(first); entry > 0 && first >= s.covered(last) {
		return moveBoundary(s, last, entry)
	}
	return moveBoundary(s, last, s.safeBoundary(last, max(pair.Call.Item, pair.Result.Item)))
}

// entryOf is the index of an item in the list that the reader loads.
func (s *Subject) entryOf(item int) int {
	for n, i := range s.Loaded() {
		if i == item {
			return n
		}
	}
	return 0
}
