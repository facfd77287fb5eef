package branches

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var lateAppendBeforeSummary = rules.Rule{
	ID: "SC726", Name: "late-append-before-summary", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "messages before the summary that a request begins with",
	Run:   rules.VisitSubjects(reportLate),
}

func reportLate(p *rules.Pass, s *rules.Subject) {
	summary := lastSummaryTurn(s)
	late := lateMessages(s, summary)
	if p.Store.Hides { // what it lacks of a pair is told of there
		late = slices.DeleteFunc(late, func(i int) bool {
			return slices.ContainsFunc(s.Parted, func(pair pairing.Pair) bool { return pair.Call.Item == i || pair.Result.Item == i })
		})
	}
	if len(late) == 0 {
		return
	}
	f := p.FindItems(s.Session, late)
	f.Related = []session.Place{s.ItemPlace(summary)}
	f.Message = rules.CountedNoun(len(late), "message") + rules.VerbForm(len(late), " comes", " come") + " before the summary but" +
		rules.VerbForm(len(late), " is", " are") + " not part of it"
	f.AddSentence("A compaction ran at the same time, or the store orders by time")
	if p.Store.Hides { // nobody knows whether the compaction should have hidden it
		p.Report(f)
		return
	}
	f.SetFix(rules.Lossless, "move "+rules.CountedNoun(len(late), "message")+" after the summary, in the order of their times",
		moveBehindSummary(s, late, summary)...)
	p.Report(f)
}

// lastSummaryTurn is the index of the last message of a summary turn that is sent,
// -1 when there is none.
func lastSummaryTurn(s *rules.Subject) int {
	for i := len(s.Items) - 1; i >= 0; i-- {
		if it := &s.Items[i]; inSummaryTurn(it) && it.OnWire() {
			return i
		}
	}
	return -1
}

// inSummaryTurn reports whether a message is marked as one of a summary turn and can
// be one: a summary neither calls nor answers.
func inSummaryTurn(it *session.Item) bool {
	return it.Flags.Has(session.SummaryTurn) && len(it.Calls)+len(it.Results) == 0
}

// lateMessages are the messages, by index, that are sent before a summary and are no part
// of one.
func lateMessages(s *rules.Subject, summary int) []int {
	var late []int
	for i := range max(summary, 0) {
		if it := &s.Items[i]; it.OnWire() && !it.Flags.Has(session.SummaryTurn) {
			late = append(late, i)
		}
	}
	return late
}

// moveBehindSummary are the edits that move items, in their order, from before a
// summary to behind it, and there behind those that go first.
func moveBehindSummary(s *rules.Subject, items []int, summary int) []session.Edit {
	if len(items) == 0 {
		return nil
	}
	var edits []session.Edit
	last, after := summary, s.ItemRef(summary) // behind which the next one goes
	for _, i := range items {
		for n := last + 1; n < len(s.Items); n++ {
			kept := &s.Items[n]
			if !kept.OnWire() {
				continue
			}
			if !goesFirst(kept, &s.Items[i]) {
				break
			}
			last, after = n, s.ItemRef(n)
		}
		edits = append(edits, session.Edit{Op: session.Move, Ref: s.ItemRef(i), To: s.ID, After: after})
		after = s.ItemRef(i)
	}
	return edits
}

// goesFirst reports whether a message that stands behind a summary stays in front of
// one that moves there. Their times say so; where they do not, what was archived is
// older than all that was kept, and what was not is newer.
func goesFirst(kept, moved *session.Item) bool {
	if moved.Flags.Has(session.Archived) {
		return !kept.Time.IsZero() && kept.Time.Before(moved.Time)
	}
	return moved.Time.IsZero() || !kept.Time.After(moved.Time)
}
