package checks

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// overview says how many sessions cannot resume, and counts the findings by rule.
func overview(r *check.Result, fresh []*check.Finding) document.Document {
	table := document.Table{Columns: []document.Column{
		{Name: "SEVERITY"}, {Name: "RULE"}, {Name: "NAME", Give: document.Cut}, {Name: "FINDINGS", Right: true}, {Name: "SESSIONS", Right: true}, {Name: "REPAIR"},
	}}
	for _, found := range render.ByRule(fresh) {
		f := found[0]
		table.Rows = append(table.Rows, render.Cells(render.SeverityOf(f.Severity), f.Rule.ID, f.Rule.Name,
			ui.Number(len(found)), ui.Number(render.Sessions(found)), repairs(found)))
	}
	return append(prospects(r), table, document.Gap{})
}

// prospects say what becomes of the sessions, also where a baseline knows why.
func prospects(r *check.Result) document.Document {
	looks := map[string]check.Outlook{}
	for _, f := range r.Findings {
		if f.Root != nil {
			looks[f.Root.ID] = f.Root.Outlook
		}
	}
	counts := map[check.Outlook]int{}
	for _, o := range looks {
		counts[o]++
	}
	var doc document.Document
	of := " of " + ui.Count(r.Trees, "session")
	for _, o := range outlooks {
		if n := counts[o.Outlook]; n == 1 {
			doc = append(doc, render.Say("1"+of+o.one))
		} else if n > 1 {
			doc = append(doc, render.Say(ui.Number(n)+of+o.several))
		}
	}
	if doc == nil && r.Incomplete == "" {
		doc = append(doc, render.Say("Nothing that was found keeps a session from resuming."))
	}
	if doc != nil {
		doc = append(doc, document.Gap{})
	}
	return doc
}

// outlooks are what is said of one session and of several, the worst first.
var outlooks = []struct {
	check.Outlook
	one, several string
}{
	{check.Unloaded, " cannot resume: its runtime fails to load it.", " cannot resume: their runtime fails to load them."},
	{check.Refused, " cannot resume: the provider refuses its next request.", " cannot resume: the provider refuses their next requests."},
	{check.Waits, " does not resume until a call has its result.", " do not resume until calls have their results."},
	{check.Doubtful, " may be refused: that depends on the model or the server.", " may be refused: that depends on the model or the server."},
	{check.Loses, " resumes, but the model loses something.", " resume, but the model loses something."},
}

// repairs say whether what one rule found can be repaired: all of it or some, and what
// has to be typed besides.
func repairs(found []*check.Finding) string {
	best, count := "no", map[string]int{}
	for _, f := range found {
		how := repairOf(f)
		count[how]++
		if how == "yes" || best == "no" {
			best = how
		}
	}
	if count[best] == len(found) {
		return best
	}
	return best + " (" + ui.Number(count[best]) + " of " + ui.Number(len(found)) + ")"
}

func repairOf(f *check.Finding) string {
	switch {
	case f.Repairable():
		return "yes"
	case f.Allow() != nil:
		return "with --allow " + strings.Join(f.Allow(), ",")
	case f.Accepted() && len(f.Fixes) > 0 && len(f.Fixes[0].Edits) > 0:
		return "with --select " + f.Rule.ID
	}
	return "no"
}

// listed are the findings one by one, those of the newest session first. A stream and a
// recording keep their order, as their lines do. The cap leaves something of the newest
// session, however much there is about the store itself.
func (c *checkText) listed(r *check.Result, fresh []*check.Finding) document.Document {
	var shown, minor, hidden []*check.Finding
	session := false // one is among those shown
	for _, f := range render.NewestFirst(fresh) {
		switch {
		case f.Severity < c.Least && !f.Refused():
			minor = append(minor, f)
		case c.MaxFindings > 0 && len(shown) >= c.MaxFindings && (session || f.Root == nil):
			hidden = append(hidden, f)
		default:
			shown, session = append(shown, f), session || f.Root != nil
		}
	}
	more := render.Sessions(slices.Concat(shown, hidden)) - render.Sessions(shown)
	if r.Recording || r.Store.CountsKeys {
		place := map[*check.Finding]int{}
		for i, f := range fresh {
			place[f] = i
		}
		slices.SortFunc(shown, func(a, b *check.Finding) int { return place[a] - place[b] })
	}
	var doc document.Document
	if len(shown) > 0 {
		form := render.FindingLines
		if c.Full {
			form = render.FindingsText
		}
		doc = append(form(shown, c.Screen.TextWidth()), document.Gap{})
	}
	if len(hidden) > 0 {
		where := ""
		if more > 0 {
			where = " in " + ui.Count(more, "more session")
		}
		doc = append(doc, render.Say("Not listed: ", render.Severities(hidden), where+" (--max-findings 0 lists all)"))
	}
	if len(minor) > 0 {
		doc = append(doc, render.Say("Not listed: ", render.Severities(minor), " (--severity "+rules.Info.String()+" lists them)"))
	}
	return doc
}
