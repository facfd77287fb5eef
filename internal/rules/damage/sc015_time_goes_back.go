package damage

import (
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var timeGoesBack = rules.Rule{
	ID: "SC015", Name: "time-goes-back", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "times decrease within a session",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		bad := backInTime(s.Session)
		if len(bad) == 0 || s.InterleavedTurns() != nil { // SC718 tells why
			return
		}
		f := p.FindItems(s.Session, bad)
		f.Whole = true
		f.Message = rules.CountedNoun(len(bad), "item") + rules.VerbForm(len(bad), " is", " are") + " older than the item before"
		if p.Store.Zoneless != "" {
			f.AddSentence("Times are stored here without a zone: " + p.Store.Zoneless + " in different zones can cause this, and so can the end of summer time")
		}
		f.AddSentence("A second writer, a changed clock or moved records can cause this")
		p.Report(f)
	}),
}

// backInTime are the items that are older than the one before them. A compaction
// writes what it keeps anew, behind its summary and what it archived: so the
// summary does not count, and what is archived counts by itself. A result that was made up
// has no time of its own: a repair gives it that of its call, or that of the message before it.
func backInTime(s *session.Session) []int {
	var before struct{ sent, archived time.Time }
	var bad []int
	for i := range s.Items {
		it, last := &s.Items[i], &before.sent
		if it.Flags.Has(session.Archived) {
			last = &before.archived
		}
		madeUp := !slices.ContainsFunc(it.Results, func(r session.Result) bool { return !r.Synthetic })
		if it.Time.IsZero() || it.Flags.Has(session.SummaryTurn) || it.Role == session.Tool && (s.CallOrder || madeUp) { // one stands with its call, whenever it came
			continue
		}
		if it.Time.Before(*last) {
			bad = append(bad, i)
		}
		*last = it.Time
	}
	return bad
}
