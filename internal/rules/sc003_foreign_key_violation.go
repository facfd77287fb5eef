package rules

import "github.com/sessctl/sessctl/internal/session"

var foreignKey = Rule{
	ID: "SC003", Name: "foreign-key-violation", Severity: Error, Safety: Manual, Scope: PerTree | PerStore, Deep: true, Since: "0.1.0",
	Title: "a row points to a row that does not exist",
	Run:   faults(session.ForeignKey, detail),
}
