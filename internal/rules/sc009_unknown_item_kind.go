package rules

import "github.com/sessctl/sessctl/internal/session"

var unknownItemKind = Rule{
	ID: "SC009", Name: "unknown-item-kind", Severity: Warning, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "an item of a kind that readers do not know and skip silently",
	Run: faults(session.UnknownKind, func(found *Finding, f *session.Fault) {
		found.Message = "the item is of kind " + quoted(f.Field) + ", which no known reader loads: it is skipped silently"
		if f.Detail != "" {
			found.Message = f.Detail
		}
		found.Discreet = withoutValues(found.Message)
	}),
}
