package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var schemaUnknown = rules.Rule{
	ID: "SC002", Name: "schema-unknown", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "the schema is newer than known, or disagrees with its recorded migrations",
	Run: rules.Faults(session.SchemaUnknown, func(found *rules.Finding, f *session.Fault) {
		rules.Detail(found, f)
		if f.Harmless {
			found.Severity = rules.Info
		}
	}),
}
