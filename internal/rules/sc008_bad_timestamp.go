package rules

import "github.com/sessctl/sessctl/internal/session"

var badTimestamp = Rule{
	ID: "SC008", Name: "bad-timestamp", Severity: Warning, Safety: Kept, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a time that is unreadable, out of range or zero",
	Run: faults(session.BadTime, func(found *Finding, f *session.Fault) {
		found.Message = f.Field + " is not a usable time: " + f.Detail
		found.Discreet = withoutValues(found.Message)
		setDefault(found, f, Kept)
	}),
}
