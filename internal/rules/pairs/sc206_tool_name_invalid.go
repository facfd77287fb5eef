package pairs

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var toolNameInvalid = rules.Rule{
	ID: "SC206", Name: "tool-name-invalid", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "tool names have a form that the provider refuses",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		refused := sentCalls(j.Subject, func(c *session.Call) bool { return !rules.FitsForm(j.Profile.ToolName, c.Name) })
		long := sentCalls(j.Subject, func(c *session.Call) bool { return j.Profile.LongName > 0 && len(c.Name) > j.Profile.LongName })
		switch {
		case len(refused) > 0:
			reportNames(p, j, refused, rules.Error, "%s %s a tool name that "+j.Profile.Title+" refuses: %s")
		case len(long) > 0:
			reportNames(p, j, long, rules.Warning, "%s %s a tool name of more than "+strconv.Itoa(j.Profile.LongName)+" characters, which older models refuse: %s")
		}
	}),
}

func reportNames(p *rules.Pass, j rules.Judged, at []pairing.Occurrence, severity rules.Severity, message string) {
	f := findNames(p, j, at, severity, message, func(c *session.Call) string { return c.Name })
	all := sentCalls(j.Subject, func(*session.Call) bool { return true })
	names := lists.MapEach(all, func(at pairing.Occurrence) string { return j.CallAt(at).Name })
	sent := rules.SentFor(j.Profile.ToolName, j.CallAt(at[0]).Name, names)
	f.Sent = quotedShort(sent) + " as the name of the first of these tools, wherever it appears"
	p.Report(f)
}
