package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var foreignKey = rules.Rule{
	ID: "SC003", Name: "foreign-key-violation", Severity: rules.Error, Safety: rules.Manual, Scope: rules.PerTree | rules.PerStore, Deep: true, Since: "0.1.0",
	Title: "a row points to a row that does not exist",
	Run:   rules.Faults(session.ForeignKey, rules.Detail),
}
