package damage

import (
	"cmp"
	"strconv"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// stored is the scope of what the reader of the bytes can find anywhere.
const stored = rules.PerTree | rules.PerStore

// faults are the rules that only word what the reader of the bytes found.
var faults = []*rules.Rule{
	{
		ID: "SC001", Name: "store-damaged", Severity: rules.Error, Safety: rules.Manual, Scope: stored, Since: "0.1.0",
		Title: "the file is damaged, truncated, or part of its content is in a missing or torn WAL",
		Run: rules.ReportFaults(session.StoreDamaged, func(p *rules.Pass, found *rules.Finding, f *session.Fault) {
			if way := cmp.Or(f.Remedy, p.Store.RecoverBy()); way != "" {
				found.SetFix(rules.Manual, way)
			}
		}),
	},
	{
		ID: "SC002", Name: "schema-unknown", Severity: rules.Warning, Safety: rules.None, Scope: stored, Since: "0.1.0",
		Title: "the schema is newer than known, or disagrees with its recorded migrations",
		Run:   rules.ReportFaults(session.SchemaUnknown),
	},
	{
		ID: "SC003", Name: "foreign-key-violation", Severity: rules.Error, Safety: rules.Kept, Scope: stored, Deep: true, Since: "0.1.0",
		Title: "a row points to a row that does not exist",
		Run: rules.ReportFaults(session.ForeignKey, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			if rules.SetDefault(found, f, rules.Kept); f.Default != nil {
				found.Fixes[0].Title = f.Remedy
			}
		}),
	},
	{
		ID: "SC004", Name: "set-aside-backup", Severity: rules.Warning, Safety: rules.Manual, Scope: stored, Since: "0.1.0",
		Title: "a .bak beside the store has sessions that the store lacks",
		Run:   rules.ReportFaults(session.SetAsideBackup, rules.SetRemedy),
	},
	{
		ID: "SC005", Name: "legacy-copy-fuller", Severity: rules.Error, Safety: rules.None, Scope: stored, Deep: true, Since: "0.1.0",
		Title: "the old JSON column has more items than the item table",
		Run:   rules.ReportFaults(session.LegacyFuller),
	},
	{
		ID: "SC006", Name: "required-null", Severity: rules.Error, Safety: rules.Lossless, Scope: stored, Since: "0.1.0",
		Title: "NULL where the runtime cannot read it",
		Run: rules.ReportFaults(session.RequiredNull, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			found.Message = f.Field + " is NULL, which the runtime cannot read. " + f.Detail
			rules.SetDefault(found, f, rules.Lossless)
		}),
	},
	{
		ID: "SC007", Name: "bad-metadata-json", Severity: rules.Error, Safety: rules.Kept, Scope: stored, Since: "0.1.0",
		Title: "a metadata column cannot be parsed",
		Run: rules.ReportFaults(session.BadMetadata, func(p *rules.Pass, found *rules.Finding, f *session.Fault) {
			found.Message = f.Field + " cannot be parsed: " + f.Detail
			rules.SetDefault(found, f, rules.Kept)
			rules.SetRemedy(p, found, f)
			if f.Field == session.FieldPosition && f.Item >= 0 {
				found.SetFix(rules.Kept, "number the positions in the order shown",
					session.Edit{Op: session.Set, Ref: found.Ref, Field: f.Field, Value: new(strconv.Itoa(f.Item))})
			}
		}),
	},
	{
		ID: "SC008", Name: "bad-timestamp", Severity: rules.Warning, Safety: rules.Kept, Scope: stored, Since: "0.1.0",
		Title: "a time that is unreadable, out of range or zero",
		Run: rules.ReportFaults(session.BadTime, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			found.Message = f.Field + " is not a usable time: " + f.Detail
			found.Discreet = rules.WithoutValues(found.Message)
			rules.SetDefault(found, f, rules.Kept)
		}),
	},
	{
		ID: "SC009", Name: "unknown-item-kind", Severity: rules.Warning, Safety: rules.None, Scope: stored, Since: "0.1.0",
		Title: "an item of an unknown kind, which is skipped silently",
		Run: rules.ReportFaults(session.UnknownKind, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			found.Message = cmp.Or(f.Detail, "the item is of the unknown kind "+rules.QuoteText(f.Field)+", which runtimes skip silently")
			found.Discreet = rules.WithoutValues(found.Message)
		}),
	},
	{
		ID: "SC012", Name: "empty-summary", Severity: rules.Warning, Safety: rules.Kept, Scope: stored, Since: "0.1.0",
		Title: "a summary without text, or with usage that cannot be parsed",
		Run: rules.ReportFaults(session.BadSummary, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			rules.SetDefault(found, f, rules.Kept)
		}),
	},
	{
		ID: "SC016", Name: "duplicated-key-copies", Severity: rules.Warning, Safety: rules.None, Scope: stored, Since: "0.1.0",
		Title: "a column and its copy in the record disagree",
		Run: rules.ReportFaults(session.CopiesDiffer, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			found.Message = f.Field + " is stored in two places that disagree: " + f.Detail
		}),
	},
	{
		ID: "SC017", Name: "mixed-dialects", Severity: rules.Warning, Safety: rules.None, Scope: stored, Since: "0.1.0",
		Title: "one session with the records of two different writers",
		Run:   rules.ReportFaults(session.MixedDialects),
	},
	// An orphan belongs to no tree, and a repair changes trees: so it is reported, and
	// its page says how to take it out by hand. Where its session is known, that is one.
	{
		ID: "SC018", Name: "orphan-record", Severity: rules.Warning, Safety: rules.Lossless, Scope: stored, Since: "0.1.0",
		Title: "records whose session does not exist",
		Run: rules.ReportFaults(session.OrphanRecord, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			if rules.SetDefault(found, f, rules.Lossless); f.Default != nil {
				found.Fixes[0].Title = "make the row of the session, with what its messages say of it"
			}
		}),
	},
	{
		ID: "SC026", Name: "hidden-record", Severity: rules.Warning, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
		Title: "a mark on a stored message keeps it from the model",
		Run: rules.ReportFaults(session.HiddenRecord, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			rules.SetDefault(found, f, rules.Kept)
		}),
	},
	{
		ID: "SC027", Name: "kept-beside", Severity: rules.Warning, Safety: rules.Manual, Scope: rules.PerTree, Since: "0.1.0",
		Title: "a backup that the runtime made holds what the session has lost",
		Run: rules.ReportFaults(session.KeptBeside, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			if len(f.Calls) == 0 { // else SC101 takes the result from there
				found.SetFix(rules.Manual, "decide whether the line belongs into the file, and copy it there")
			}
		}),
	},
	{
		ID: "SC028", Name: "ordinal-repeated", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
		Title: "a line has a number that an earlier line has, or a smaller one",
		Run: rules.ReportFaults(session.SharedOrdinal, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			if f.Count > 1 {
				found.AddSentence(strconv.Itoa(f.Count) + " lines of the file are so")
			}
			if rules.SetDefault(found, f, rules.Lossless); f.Default != nil {
				found.Fixes[0].Title = "renumber the lines from there on"
			}
		}),
	},
	{
		ID: "SC030", Name: "unnamed-records", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
		Title: "messages that no branch of their session names",
		Run:   rules.ReportFaults(session.Unnamed),
	},
	{
		ID: "SC019", Name: "housekeeping", Severity: rules.Info, Safety: rules.None, Scope: stored, Since: "0.1.0",
		Title: "free space, a large WAL, totals or bookkeeping that could be tidied",
		Run:   rules.ReportFaults(session.Housekeeping),
	},
	{
		ID: "SC020", Name: "cut-off-line", Severity: rules.Warning, Safety: rules.Kept, Scope: stored, Since: "0.1.0",
		Title: "the last line of a file was cut off while it was written",
		Run: rules.ReportFaults(session.TornLine, func(p *rules.Pass, found *rules.Finding, _ *session.Fault) {
			if found.Item >= 0 && p.Store.WriterOf(found.Session) == session.WriterDead { // else it may be written now
				found.SetFix(rules.Kept, "remove what there is of the line; the receipt keeps its bytes", session.Edit{Op: session.Quarantine, Ref: found.Ref})
			}
		}),
	},
	{
		ID: "SC021", Name: "broken-chain", Severity: rules.Info, Safety: rules.Lossless, Allow: "guesses", Scope: stored, Since: "0.1.0",
		Title: "a line names another one that does not exist, or itself",
		Run: rules.ReportFaults(session.BrokenChain, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			rules.SetDefault(found, f, rules.Lossless)
			for i := range found.Fixes {
				found.Fixes[i].Title = "name the line before it as its parent"
			}
			if f.Hides || f.Remedy != "" {
				found.Severity = rules.Warning
			}
			switch {
			case f.Remedy != "" && f.Default != nil:
				found.Fixes[0].Title, found.Fixes[0].Allow = f.Remedy, []string{"guesses"}
			case f.Remedy != "": // it is another session's
				found.SetFix(rules.Manual, f.Remedy)
			}
		}),
	},
	{
		ID: "SC022", Name: "history-deleted", Severity: rules.Warning, Safety: rules.None, Scope: stored, Since: "0.1.0",
		Title: "the runtime deleted messages of the session, and they cannot come back",
		Run: rules.ReportFaults(session.HistoryDeleted, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			found.Message = "earlier messages of this session are deleted, and cannot come back"
			found.AddSentence(f.Detail)
		}),
	},
	{
		ID: "SC023", Name: "misplaced-session", Severity: rules.Warning, Safety: rules.Manual, Scope: stored, Since: "0.1.0",
		Title: "the runtime does not find the session where it is looked for",
		Run:   rules.ReportFaults(session.Misplaced, rules.SetRemedy),
	},
}
