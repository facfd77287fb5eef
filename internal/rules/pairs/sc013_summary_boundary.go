package pairs

import (
	"fmt"
	"strconv"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var summaryBoundary = rules.Rule{
	ID: "SC013", Name: "summary-boundary", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "the tail that a summary keeps starts in the wrong place",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		if last := s.LastSummary(); last >= 0 && s.Items[last].KeptFrom() != 0 {
			reportBoundary(p, s, last)
		}
	}),
}

// reportBoundary judges the kept-tail boundary of the session's last summary. A
// boundary that parts a call from its result is SC113. One that is the summary's
// own place is how docker agent since v1.41.0 writes that nothing is kept.
func reportBoundary(p *rules.Pass, s *rules.Subject, last int) {
	kept, own := s.Items[last].KeptFrom(), int64(entryOf(s, last))
	f := p.FindItem(s.Session, last)
	entry := 0
	var why string
	switch covered := coveredStart(s, last); {
	case kept < 0:
		f.Severity = rules.Warning
		why = "negative. Runtimes keep no tail then, as for 0."
	case kept > own:
		// The writer's list in memory was longer than what it stored: a hook's
		// context, results of a cancelled run.
		f.Severity = rules.Info
		why = fmt.Sprintf("after the summary itself (entry %d). Runtimes keep no tail then, as for 0.", own)
	case s.Start < last && sendsAny(s, s.Start, covered):
		why = fmt.Sprintf("in history that the summary at item %d covers. The next request would send that history again.", summaryBefore(s, last))
		entry = safeBoundary(s, last, covered)
	default:
		return
	}
	f.Message = fmt.Sprintf("the tail of the summary starts at entry %d, which is %s", kept, why)
	switch {
	case s.Closed:
		f.Severity = rules.Info
		f.AddSentence(s.HistoryReason(last))
	case f.Severity > rules.Info:
		f.Fixes = []rules.Fix{moveBoundary(s, last, entry)}
	}
	p.Report(f)
}

// coveredStart is the index of the first item that the summaries before the one at
// index last do not cover: where the request before it started.
func coveredStart(s *rules.Subject, last int) int {
	return (&session.Session{Items: s.Items[:last]}).RequestStart()
}

// sendsAny reports whether a model is sent any of the items from one index up to
// another.
func sendsAny(s *rules.Subject, from, to int) bool {
	for i := from; i < to; i++ {
		if s.Items[i].OnWire() {
			return true
		}
	}
	return false
}

func summaryBefore(s *rules.Subject, last int) int {
	return (&session.Session{Items: s.Items[:last]}).LastSummary()
}

// safeBoundary is the first entry of the loaded list at or behind an item, and
// before the summary, at which a tail can start: 0 when there is none, which
// means that the summary keeps no tail.
func safeBoundary(s *rules.Subject, summary, from int) int {
	for n, i := range s.LoadedIndexes() {
		if i >= from && i < summary && s.Items[i].OnWire() && !s.Items[i].IsAnswer() {
			return n
		}
	}
	return 0
}

func moveBoundary(s *rules.Subject, summary, entry int) rules.Fix {
	value := strconv.Itoa(entry)
	title := "set the tail of the summary to start at entry " + value
	if entry == 0 {
		title = "set the summary to keep no tail"
	}
	return rules.NewFix(rules.Lossless, title, session.Edit{Op: session.Set, Ref: s.ItemRef(summary), Field: "first_kept_entry", Value: &value})
}
