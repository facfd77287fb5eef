package rules

import "github.com/sessctl/sessctl/internal/session"

var toolNameInvalid = Rule{
	ID: "SC206", Name: "tool-name-invalid", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "names of tools have a form that the provider refuses",
	Run: func(p *Pass) {
		for j := range p.judged() {
			refused := j.sentCalls(func(c *session.Call) bool { return !fits(j.Profile.ToolName, c.Name) })
			if len(refused) == 0 {
				continue
			}
			f := p.findNames(j, refused, "%s %s a tool's name that "+j.Profile.Title+" does not take: %s", func(c *session.Call) string { return c.Name })
			var names []string
			for _, at := range j.sentCalls(func(*session.Call) bool { return true }) {
				names = append(names, j.call(at).Name)
			}
			first := j.call(refused[0]).Name
			f.Sent = quotedShort(j.Profile.WireNames(names)[first]) + " as the name of the first of these tools, wherever it is named"
			p.Report(f)
		}
	},
}
