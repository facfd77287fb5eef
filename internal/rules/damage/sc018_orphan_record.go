package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// An orphan belongs to no tree, and a repair changes trees: so it is reported, and
// its page says how to take it out by hand.
var orphanRecord = rules.Rule{
	ID: "SC018", Name: "orphan-record", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "records whose session does not exist",
	Run:   rules.Faults(session.OrphanRecord, rules.Detail),
}
