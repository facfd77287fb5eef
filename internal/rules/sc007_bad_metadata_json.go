package rules

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

var badMetadataJSON = Rule{
	ID: "SC007", Name: "bad-metadata-json", Severity: Error, Safety: Kept, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a metadata column does not parse",
	Run: faults(session.BadMetadata, func(found *Finding, f *session.Fault) {
		found.Message = f.Field + " does not parse: " + f.Detail
		setDefault(found, f, Kept)
		if f.Field == session.FieldPosition && f.Item >= 0 {
			next := strconv.Itoa(f.Item)
			found.Fixes = []Fix{{
				Title: "make the positions rise in the order shown", Safety: Kept,
				Edits: []session.Edit{{Op: session.Set, Ref: found.Ref, Field: f.Field, Value: &next}},
			}}
		}
	}),
}
