package rules

import "github.com/sessctl/sessctl/internal/session"

var duplicatedKeyCopies = Rule{
	ID: "SC016", Name: "duplicated-key-copies", Severity: Warning, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a column and its copy in the record disagree",
	Run: faults(session.CopiesDiffer, func(found *Finding, f *session.Fault) {
		found.Message = f.Field + " is stored in two places that disagree: " + f.Detail
	}),
}
