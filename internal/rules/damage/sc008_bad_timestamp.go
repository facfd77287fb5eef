package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var badTimestamp = rules.Rule{
	ID: "SC008", Name: "bad-timestamp", Severity: rules.Warning, Safety: rules.Kept, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "a time that is unreadable, out of range or zero",
	Run: rules.Faults(session.BadTime, func(found *rules.Finding, f *session.Fault) {
		found.Message = f.Field + " is not a usable time: " + f.Detail
		found.Discreet = rules.WithoutValues(found.Message)
		rules.SetDefault(found, f, rules.Kept)
	}),
}
