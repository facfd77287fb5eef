package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var historyDeleted = rules.Rule{
	ID: "SC022", Name: "history-deleted", Severity: rules.Warning, Safety: rules.None, Scope: stored, Since: "0.1.0",
	Title: "the runtime deleted messages of the session, and they cannot come back",
	Run: rules.ReportFaults(session.HistoryDeleted, func(found *rules.Finding, f *session.Fault) {
		found.Message = "earlier messages of this session are deleted, and cannot come back"
		found.AddSentence(f.Detail)
	}),
}
