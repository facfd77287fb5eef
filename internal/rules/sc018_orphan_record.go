package rules

import "github.com/sessctl/sessctl/internal/session"

// An orphan belongs to no tree, and a repair changes trees: so it is reported, and
// its page says how to take it out by hand.
var orphanRecord = Rule{
	ID: "SC018", Name: "orphan-record", Severity: Warning, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "records whose session does not exist",
	Run:   faults(session.OrphanRecord, detail),
}
