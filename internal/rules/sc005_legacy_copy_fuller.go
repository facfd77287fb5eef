package rules

import "github.com/sessctl/sessctl/internal/session"

var legacyCopyFuller = Rule{
	ID: "SC005", Name: "legacy-copy-fuller", Severity: Error, Safety: None, Scope: PerTree | PerStore, Deep: true, Since: "0.1.0",
	Title: "the old JSON column holds more items than the item table",
	Run:   faults(session.LegacyFuller, detail),
}
