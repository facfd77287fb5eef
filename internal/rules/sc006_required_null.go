package rules

import "github.com/sessctl/sessctl/internal/session"

var requiredNull = Rule{
	ID: "SC006", Name: "required-null", Severity: Error, Safety: Lossless, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "NULL where the reader cannot scan one",
	Run: faults(session.RequiredNull, func(found *Finding, f *session.Fault) {
		found.Message = f.Field + " is NULL, and the runtime's reader fails on NULL there. " + f.Detail
		setDefault(found, f, Lossless)
	}),
}
