package rules

import "github.com/sessctl/sessctl/internal/session"

var storeDamaged = Rule{
	ID: "SC001", Name: "store-damaged", Severity: Error, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "the file is damaged, truncated, or part of its content is in a missing or torn WAL",
	Run:   faults(session.StoreDamaged, detail),
}
