package rules

import "github.com/sessctl/sessctl/internal/session"

var housekeeping = Rule{
	ID: "SC019", Name: "housekeeping", Severity: Info, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "free space, a large WAL, totals or bookkeeping that could be tidied",
	Run:   faults(session.Housekeeping, detail),
}
