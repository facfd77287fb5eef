package damage

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var badMetadataJSON = rules.Rule{
	ID: "SC007", Name: "bad-metadata-json", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "a metadata column cannot be parsed",
	Run: rules.Faults(session.BadMetadata, func(found *rules.Finding, f *session.Fault) {
		found.Message = f.Field + " cannot be parsed: " + f.Detail
		rules.SetDefault(found, f, rules.Kept)
		if f.Field == session.FieldPosition && f.Item >= 0 {
			next := strconv.Itoa(f.Item)
			found.Fixes = []rules.Fix{{
				Title: "number the positions in the order shown", Safety: rules.Kept,
				Edits: []session.Edit{{Op: session.Set, Ref: found.Ref, Field: f.Field, Value: &next}},
			}}
		}
	}),
}
