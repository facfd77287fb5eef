package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var requiredNull = rules.Rule{
	ID: "SC006", Name: "required-null", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "NULL where the runtime cannot read it",
	Run: rules.Faults(session.RequiredNull, func(found *rules.Finding, f *session.Fault) {
		found.Message = f.Field + " is NULL, which the runtime cannot read. " + f.Detail
		rules.SetDefault(found, f, rules.Lossless)
	}),
}
