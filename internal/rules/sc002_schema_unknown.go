package rules

import "github.com/sessctl/sessctl/internal/session"

var schemaUnknown = Rule{
	ID: "SC002", Name: "schema-unknown", Severity: Warning, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "the schema is newer than known, or disagrees with its recorded migrations",
	Run: faults(session.SchemaUnknown, func(found *Finding, f *session.Fault) {
		detail(found, f)
		if f.Harmless {
			found.Severity = Info
		}
	}),
}
