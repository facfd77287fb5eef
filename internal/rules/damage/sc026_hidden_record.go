package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var hiddenRecord = rules.Rule{
	ID: "SC026", Name: "hidden-record", Severity: rules.Warning, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a mark on a stored message keeps it from the model",
	Run: rules.ReportFaults(session.HiddenRecord, func(found *rules.Finding, f *session.Fault) {
		rules.SetDetail(found, f)
		rules.SetDefault(found, f, rules.Kept)
	}),
}

var keptBeside = rules.Rule{
	ID: "SC027", Name: "kept-beside", Severity: rules.Warning, Safety: rules.Manual, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a backup that the runtime made holds what the session has lost",
	Run: rules.ReportFaults(session.KeptBeside, func(found *rules.Finding, f *session.Fault) {
		rules.SetDetail(found, f)
		if len(f.Calls) == 0 { // else SC101 takes the result from there
			found.Fixes = []rules.Fix{{Title: "decide whether the line belongs into the file, and copy it there", Safety: rules.Manual}}
		}
	}),
}
