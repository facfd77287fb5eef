package branches

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var summaryBranchScope = rules.Rule{
	ID: "SC712", Name: "summary-branch-scope", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a summary on another branch than the events that it summarizes",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		if p.Store.RootSummaries {
			reportBranchedSummaries(p, s)
		} else {
			reportSummaryScopes(p, s)
		}
	}),
}

// reportBranchedSummaries is for stores whose summaries have no branch.
func reportBranchedSummaries(p *rules.Pass, s *rules.Subject) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Branch() != "" && (it.Kind == session.Summary || inSummaryTurn(it)) {
			reportScope(p, s, i, "", "the summary is on branch "+rules.QuoteText(it.Branch())+", so other agents see neither it nor what it summarizes. "+
				p.Store.Title+" gives summaries no branch.")
		}
	}
}

// reportSummaryScopes is for stores whose summaries have the branch that all they
// stand for have in common: what lies between the start of the request before and
// the tail that they keep.
func reportSummaryScopes(p *rules.Pass, s *rules.Subject) {
	loaded := s.LoadedIndexes()
	marked := slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Flags.Has(session.Compacted) })
	start := 0
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind != session.Summary || it.Text == 0 || it.Flags.Has(session.Skipped) {
			continue
		}
		end := i
		if kept := it.KeptFrom(); kept > 0 && kept < int64(len(loaded)) {
			end = min(end, loaded[kept])
		}
		labels, paths := summedBranches(s, start, end, marked)
		start = end
		if want := branch.CommonPrefix(labels...); len(labels) > 0 && paths && want != it.Branch() && isPath(it.Branch()) {
			reportScope(p, s, i, want, wordMisplaced(len(labels), it.Branch(), want))
		}
	}
}

// summedBranches are the branches of what a summary stands for, and whether all are
// paths. Where the store marks what is covered, only that counts.
func summedBranches(s *rules.Subject, from, to int, marked bool) (labels []string, paths bool) {
	for i := from; i < to; i++ {
		it := s.Items[i]
		covered := it.Flags.Has(session.Compacted)
		it.Flags &^= session.Compacted
		if !it.OnWire() || marked && !covered {
			continue
		}
		if !isPath(it.Branch()) {
			return nil, false
		}
		labels = append(labels, it.Branch())
	}
	return labels, true
}

// isPath reports whether a branch is a path, or none.
func isPath(label string) bool { return label == "" || branch.ParseLabel(label).Path != "" }

// wordMisplaced words a summary of the branch has that should be of the branch want.
func wordMisplaced(covered int, has, want string) string {
	switch {
	case has == "":
		return fmt.Sprintf("the summary has no branch, so every agent sees it. All that it summarizes (%s) is on branch %s or below it.",
			rules.CountedNoun(covered, "event"), rules.QuoteText(want))
	case want == "":
		return fmt.Sprintf("the summary is on branch %s, but the %s that it summarizes have no branch in common. Agents on other branches do not see it.",
			rules.QuoteText(has), rules.CountedNoun(covered, "event"))
	}
	return fmt.Sprintf("the summary is on branch %s, but the branch of all that it summarizes (%s) is %s",
		rules.QuoteText(has), rules.CountedNoun(covered, "event"), rules.QuoteText(want))
}

// reportScope reports a summary with the branch that it should have.
func reportScope(p *rules.Pass, s *rules.Subject, i int, want, why string) {
	f := p.FindItem(s.Session, i)
	f.Message = why
	fix := rules.Fix{Title: "remove the branch of the summary", Safety: rules.Lossless}
	edit := session.Edit{Op: session.Set, Ref: f.Ref, Field: session.FieldBranch}
	if want != "" {
		fix.Title, edit.Value = "set the branch of the summary to "+rules.QuoteText(want), &want
	}
	fix.Edits = []session.Edit{edit}
	f.Fixes = []rules.Fix{fix}
	p.Report(f)
}
