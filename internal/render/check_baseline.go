package render

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

// news is "1 error, 2 infos", of the findings that no baseline knows.
func news(findings []*check.Finding) document.Text {
	fresh := check.Fresh(findings)
	if len(fresh) == 0 && len(findings) > 0 {
		return words("No new findings")
	}
	return severities(fresh)
}

// leftOut counts the findings that people are not shown, because they stand in the
// baseline: ", 2 known findings left out".
func leftOut(findings []*check.Finding) string {
	known := len(findings) - len(check.Fresh(findings))
	if known == 0 {
		return ""
	}
	return ", " + ui.Count(known, "known finding") + " left out"
}

// longestMessage is how much of a message people are shown, in characters: runtimes take
// names of any length, and a message may hold several. The JSON formats hold all of it.
const longestMessage = 2000

// bounded is a text of at most longestMessage characters.
func bounded(text string) string {
	characters := 0
	for i := range text {
		if characters == longestMessage {
			return text[:i] + "…"
		}
		characters++
	}
	return text
}

// said is the message of a finding for people. One that got worse than the baseline
// knows it says so.
func said(f *check.Finding) string { return besideBaseline(f, f.Message) }

// reported is said for what is kept and passed on.
func reported(f *check.Finding) string { return besideBaseline(f, f.Reported()) }

func besideBaseline(f *check.Finding, message string) string {
	if f.Was == nil {
		return bounded(message)
	}
	was := f.Was.Severity.String()
	if f.Was.Items > 0 {
		was += ", " + ui.Count(f.Was.Items, "item")
	}
	return "worse than in the baseline (" + was + "): " + bounded(message)
}

// shown are the findings that people are shown: those that no baseline knows.
func (o *CheckOptions) shown(findings []*check.Finding) []*check.Finding {
	if o.Quiet && o.Adopts {
		return nil
	}
	return check.Fresh(findings)
}

// nothing is what a run with a baseline changed, as the beginning of a sentence.
func nothing(b *Baseline) string {
	if b != nil && b.Written {
		return "No store"
	}
	return "Nothing"
}

// sentence says what a run had to do with the baseline.
func (b *Baseline) sentence() string {
	name := "the baseline " + ui.Clean(b.Path)
	if b.Written {
		return "Wrote " + ui.Count(b.Known, "finding") + " into " + name + "."
	}
	text, gone := ui.Count(b.Known, "known finding")+" are in "+name, ""
	switch {
	case b.Known == 0 && b.Gone > 0:
		return "Gone: " + ui.Count(b.Gone, "finding") + " of " + name + "."
	case b.Known == 0:
		return "Nothing of " + name + " was found."
	case b.Known == 1:
		text = "1 known finding is in " + name
	}
	switch {
	case b.Gone == 1:
		gone = ", and 1 entry of it is gone"
	case b.Gone > 1:
		gone = ", and " + ui.Number(b.Gone) + " entries of it are gone"
	}
	return text + gone + "."
}
