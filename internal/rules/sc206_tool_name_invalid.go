package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var toolNameInvalid = Rule{
	ID: "SC206", Name: "tool-name-invalid", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "names of tools have a form that the provider refuses",
	Run: func(p *Pass) {
		for j := range p.judged() {
			refused := j.sentCalls(func(c *session.Call) bool { return !fits(j.Profile.ToolName, c.Name) })
			long := j.sentCalls(func(c *session.Call) bool { return j.Profile.LongName > 0 && len(c.Name) > j.Profile.LongName })
			switch {
			case len(refused) > 0:
				reportNames(p, j, refused, Error, "%s %s a tool's name that "+j.Profile.Title+" does not take: %s")
			case len(long) > 0:
				reportNames(p, j, long, Warning, "%s %s a tool's name that "+fmt.Sprintf("older models refuse, of more than %d characters", j.Profile.LongName)+": %s")
			}
		}
	},
}

func reportNames(p *Pass, j Judged, at []pairing.Occurrence, severity Severity, message string) {
	f := p.findNames(j, at, severity, message, func(c *session.Call) string { return c.Name })
	var names []string
	for _, at := range j.sentCalls(func(*session.Call) bool { return true }) {
		names = append(names, j.call(at).Name)
	}
	sent := sentFor(j.Profile.ToolName, j.call(at[0]).Name, names)
	f.Sent = quotedShort(sent) + " as the name of the first of these tools, wherever it is named"
	p.Report(f)
}
