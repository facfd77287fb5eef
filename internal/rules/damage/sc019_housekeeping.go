package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var housekeeping = rules.Rule{
	ID: "SC019", Name: "housekeeping", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "free space, a large WAL, totals or bookkeeping that could be tidied",
	Run:   rules.Faults(session.Housekeeping, rules.Detail),
}
