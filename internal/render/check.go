package render

import (
	"io"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// CheckWriter prints the results of a check, store by store.
type CheckWriter interface {
	// Store prints what was found in a store.
	Store(result *check.Result, took time.Duration) error
	// Unread takes note of a store that could not be read, or not to its end: then
	// its result follows. People have read it already.
	Unread(u Unread)
	// Close prints what concerns all stores.
	Close(end Ending) error
}

// TreeWriter is a CheckWriter that also takes every tree that was looked at, with what was
// found in it. It keeps none.
type TreeWriter interface {
	Tree(*session.Store, *session.Tree, []*check.Finding)
}

// Unread is a store that could not be read, or not to its end.
type Unread struct {
	Store    string `json:"store"`
	Message  string `json:"message"`       // the same as on standard error
	Next     string `json:"next,omitzero"` // what to do now; left out when there is nothing to be done
	ExitCode int    `json:"exit_code"`
}

// Ending is what is known when all stores were looked at.
type Ending struct {
	ExitCode int
	Next     []Command // what to type next
	Baseline *Baseline // nil without one
}

// Baseline is what a run has to do with the findings of an earlier one.
type Baseline struct {
	Path    string `json:"path"`             // its file
	Known   int    `json:"known"`            // findings that are in it
	Gone    int    `json:"gone"`             // its entries whose finding is no longer there, where this run looked
	Written bool   `json:"written,omitzero"` // true where the run wrote it (`--write-baseline`), and compared nothing; else left out
}

// CheckOptions say how a check is printed.
type CheckOptions struct {
	Screen      *ui.Screen
	Tool        Tool
	Home        string         // the folder that ~ stands for
	Quiet       bool           // findings only
	MaxFindings int            // of a store, in reports of one rule of it; 0 for no limit
	Full        bool           // findings in whole paragraphs
	Least       rules.Severity // of the findings that are listed, but for those that keep a session from resuming
	Limited     bool           // not every session of the store was checked
	Several     bool           // more than one store was asked for
	Adopts      bool           // the run writes a baseline, so that everything is known behind it
	Content     bool           // pages in HTML have what messages say, and the titles of sessions

	// Lanes draw what happened between the agents of a tree, for pages in HTML.
	Lanes func(*session.Store, *session.Tree, []*check.Finding) document.Diagram

	// Fails reports whether the run fails because of a finding.
	Fails func(*check.Finding) bool
	// Folder is the one that the run was started in, for paths that others resolve.
	Folder string
	// Started is when the run began.
	Started time.Time
	// StepSummary is where GitHub takes Markdown from, nil when it does not.
	StepSummary io.Writer
}

// Facts are what a store is and how much of it was checked, on one line.
func (c *CheckOptions) Facts(r *check.Result) string {
	return strings.Join(append(StoreFacts(r.Store), c.countSessions(r)), ", ")
}

// countSessions counts what was checked, as people count: a conversation with its
// sub-sessions is one.
func (c *CheckOptions) countSessions(r *check.Result) string {
	text := ui.Count(r.Trees, "session")
	if c.Limited {
		text += " of it"
	}
	if r.WithSubs > 0 {
		text += " (" + ui.Number(r.WithSubs) + " with sub-sessions)"
	}
	return text
}

// ShownFindings are the findings that people are shown: those that no baseline knows.
func (o *CheckOptions) ShownFindings(findings []*check.Finding) []*check.Finding {
	if o.Quiet && o.Adopts {
		return nil
	}
	return check.FreshFindings(findings)
}

// UnchangedSubject is what a run with a baseline changed, as the beginning of a sentence.
func UnchangedSubject(b *Baseline) string {
	if b != nil && b.Written {
		return "No store"
	}
	return "Nothing"
}

// Sentence says what a run had to do with the baseline.
func (b *Baseline) Sentence() string {
	name := "the baseline " + ui.Clean(b.Path)
	if b.Written {
		return "Wrote " + ui.Count(b.Known, "finding") + " into " + name + "."
	}
	gone := ""
	switch {
	case b.Known == 0 && b.Gone > 0:
		return "Gone: " + ui.Count(b.Gone, "finding") + " of " + name + "."
	case b.Known == 0:
		return "Nothing of " + name + " was found."
	case b.Gone == 1:
		gone = ", and 1 entry of it is gone"
	case b.Gone > 1:
		gone = ", and " + ui.Number(b.Gone) + " entries of it are gone"
	}
	return CountAre(b.Known, "known finding") + " in " + name + gone + "."
}
