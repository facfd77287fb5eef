package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var duplicatedKeyCopies = rules.Rule{
	ID: "SC016", Name: "duplicated-key-copies", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "a column and its copy in the record disagree",
	Run: rules.Faults(session.CopiesDiffer, func(found *rules.Finding, f *session.Fault) {
		found.Message = f.Field + " is stored in two places that disagree: " + f.Detail
	}),
}
