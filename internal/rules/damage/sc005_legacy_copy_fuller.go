package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var legacyCopyFuller = rules.Rule{
	ID: "SC005", Name: "legacy-copy-fuller", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Deep: true, Since: "0.1.0",
	Title: "the old JSON column has more items than the item table",
	Run:   rules.Faults(session.LegacyFuller, rules.Detail),
}
