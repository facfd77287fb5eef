package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var setAsideBackup = rules.Rule{
	ID: "SC004", Name: "set-aside-backup", Severity: rules.Warning, Safety: rules.Manual, Scope: stored, Since: "0.1.0",
	Title: "a .bak beside the store has sessions that the store lacks",
	Run: rules.ReportFaults(session.SetAsideBackup, func(found *rules.Finding, f *session.Fault) {
		rules.SetDetail(found, f)
		if f.Remedy != "" {
			found.Fixes = []rules.Fix{{Title: f.Remedy, Safety: rules.Manual}}
		}
	}),
}
