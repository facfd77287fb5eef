package rules

import "github.com/sessctl/sessctl/internal/session"

var badMetadataJSON = Rule{
	ID: "SC007", Name: "bad-metadata-json", Severity: Error, Safety: Kept, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a metadata column does not parse",
	Run: faults(session.BadMetadata, func(found *Finding, f *session.Fault) {
		found.Message = f.Field + " does not parse: " + f.Detail
		setDefault(found, f, Kept)
	}),
}
