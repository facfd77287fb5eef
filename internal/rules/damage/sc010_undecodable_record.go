package damage

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var undecodableRecord = rules.Rule{
	ID: "SC010", Name: "undecodable-record", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree | rules.PerStore | rules.PerRecording, Since: "0.1.0",
	Title: "a record cannot be read, so the whole session fails to load",
	Run: func(p *rules.Pass) {
		if p.Recording != nil {
			reportSkipped(p)
			return
		}
		undecodable(p)
	},
}

var undecodable = rules.ReportFaults(session.Undecodable, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
	what := " cannot be read, so the session fails to load: "
	switch {
	case f.Default != nil && f.Unloads:
	case f.Default != nil || f.Passed && f.Item < 0:
		what = " cannot be read, so the runtime passes over what is there: "
	case f.Passed:
		what = " cannot be read, and the runtime passes over it: "
	case f.Remedy != "": // it may be sessctl's trouble alone
		what = " cannot be read: "
	}
	found.Message = f.Field + what + f.Detail
	fix := rules.Fix{
		Title:  "remove the record; the receipt keeps its bytes",
		Safety: rules.Kept, Unread: f.Remedy == "",
		Edits: []session.Edit{{Op: session.Quarantine, Ref: found.Ref}},
	}
	if f.Whole {
		found.Message = f.Field + " is in a form that sessctl does not know: " + f.Detail
		found.AddSentence("A newer version or another program may have written it")
		fix.Allow = []string{rules.UnknownForm}
	}
	if found.Item >= 0 {
		found.Fixes = []rules.Fix{fix}
	}
	rules.SetDefault(found, f, rules.Lossless)
	if f.Default != nil && f.Unloads {
		mendMember(&found.Fixes[0], f)
	}
	if f.Remedy != "" && len(found.Fixes) > 0 {
		found.Fixes[0].Title = f.Remedy
	}
})

// mendMember makes of a fix that sets a default one for a value within a record that is read
// but for it. Many of these are no damage but a newer form, as records that do not decode are.
func mendMember(fix *rules.Fix, f *session.Fault) {
	fix.Safety, fix.Unread = rules.Kept, true
	if f.Loses {
		fix.Safety = rules.Lossy
	}
	switch *f.Default {
	case "":
		fix.Title, fix.Edits[0].Value = "take "+f.Field+" out; the receipt keeps it", nil
		if !strings.Contains(f.Field, "/") {
			fix.Title = "set " + f.Field + " to NULL; the receipt keeps what it holds"
		}
	case "null", "{}", "[]", `""`, "0", "false":
		fix.Title = "set " + f.Field + " to " + *f.Default + "; the receipt keeps what it holds"
	default:
		fix.Title = "write " + f.Field + " in the type that is expected"
	}
}

// reportSkipped is one finding about all lines of the recording that are no events:
// nothing fails because of them, but what they may have said is missing.
func reportSkipped(p *rules.Pass) {
	skipped := p.Recording.Skipped
	if len(skipped) == 0 {
		return
	}
	lines := make([]string, max(p.Recording.Unread, len(skipped))) // some names the first ones only
	for i, s := range skipped {
		lines[i] = fmt.Sprintf("line %d (%s)", s.Line, s.Why)
	}
	f := p.FindLine(skipped[0].Line)
	f.Severity = rules.Warning
	f.Message = fmt.Sprintf("%s of the recording %s not read in full: %s",
		rules.CountedNoun(len(lines), "line"), rules.VerbForm(len(lines), "is", "are"), rules.JoinFew(lines))
	p.Report(f)
}
