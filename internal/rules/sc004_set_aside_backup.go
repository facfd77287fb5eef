package rules

import "github.com/sessctl/sessctl/internal/session"

var setAsideBackup = Rule{
	ID: "SC004", Name: "set-aside-backup", Severity: Warning, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a .bak beside the store holds sessions that the store lacks",
	Run:   faults(session.SetAsideBackup, detail),
}
