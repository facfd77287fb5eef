package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var setAsideBackup = rules.Rule{
	ID: "SC004", Name: "set-aside-backup", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "a .bak beside the store has sessions that the store lacks",
	Run:   rules.Faults(session.SetAsideBackup, rules.Detail),
}
