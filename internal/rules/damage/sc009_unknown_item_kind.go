package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var unknownItemKind = rules.Rule{
	ID: "SC009", Name: "unknown-item-kind", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "an item of an unknown kind, which is skipped silently",
	Run: rules.Faults(session.UnknownKind, func(found *rules.Finding, f *session.Fault) {
		found.Message = "the item is of the unknown kind " + rules.Quoted(f.Field) + ", which runtimes skip silently"
		if f.Detail != "" {
			found.Message = f.Detail
		}
		found.Discreet = rules.WithoutValues(found.Message)
	}),
}
