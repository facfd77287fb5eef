package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var outOfSchema = rules.Rule{
	ID: "SC025", Name: "out-of-schema", Severity: rules.Error, Safety: rules.Kept, Allow: "guesses", Scope: rules.PerTree, Since: "0.1.0",
	Title: "a record lacks what the runtime insists on, so it loads nothing of the session",
	Run: rules.ReportFaults(session.OutOfSchema, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
		fix := rules.NewFix(rules.Kept, "", session.Edit{Op: session.Set, Ref: f.Ref, Field: f.Field, Value: f.Default})
		switch {
		case f.Default == nil && f.Item < 0:
			return
		case f.Default == nil:
			fix.Title = "remove the record; the receipt keeps its bytes"
			fix.Edits = []session.Edit{{Op: session.Quarantine, Ref: found.Ref}}
		case *f.Default == "":
			fix.Title, fix.Edits[0].Value = "take out "+f.Field+"; the receipt keeps it", nil
		default:
			fix.Title = "write " + *f.Default + " at " + f.Field
		}
		if f.Remedy != "" {
			fix.Title = f.Remedy
		}
		if f.Guess {
			fix.Title += ", which is a guess"
			fix.Allow = []string{"guesses"}
		}
		found.Fixes = []rules.Fix{fix}
	}),
}
