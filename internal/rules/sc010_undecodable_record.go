package rules

import "github.com/sessctl/sessctl/internal/session"

var undecodableRecord = Rule{
	ID: "SC010", Name: "undecodable-record", Severity: Error, Safety: Kept, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a record does not parse, so that the whole session fails to load",
	Run: faults(session.Undecodable, func(found *Finding, f *session.Fault) {
		found.Message = f.Field + " does not decode, so that the session fails to load: " + f.Detail
		if found.Item >= 0 {
			found.Fixes = []Fix{{
				Title:  "take the record out of the session; its bytes stay in the receipt",
				Safety: Kept,
				Edits:  []session.Edit{{Op: session.Quarantine, Ref: found.Ref}},
			}}
		}
	}),
}
