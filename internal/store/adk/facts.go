package adk

import (
	"context"
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// facts is what is known of a store of this generation.
func (g generation) facts(s table.Schema) session.Store {
	known := traitsOf[g]
	facts := session.Store{
		Kind: kindName, Title: kindTitle, Generation: string(g), Requests: session.Requests{Adapts: Adaptations, Model: "gemini"},
		Reader: session.Reader{
			BranchModel: "path", ForeignText: true, GathersResults: true, SilentLabels: true,
			HidesToolRuns: g.python(), OpenScopes: known.openScopes, Retells: known.retells, TurnsTies: g != ps,
			PrefixReaders: known.prefixReaders, PrefixUntold: known.prefixUntold,
		},
		Versions: "written by " + g.runtime(s), Advice: g.advice(s),
	}
	return facts
}

// unknownVersion says what is wrong with the version that the database gives its
// schema, "" when it is the known one (1.0).
func (g generation) unknownVersion(ctx context.Context, db table.Reader, s table.Schema) string {
	if !s.Has(tableMetadata, "key", "value") {
		return ""
	}
	version, known := "", false
	pairs := table.Selection{Table: tableMetadata, Columns: []string{"key", "value"}, Glance: true}
	lost, err := db.Scan(ctx, pairs, func(_ table.Place, row []table.Value) error {
		if textOf(row[0]) != "schema_version" {
			return nil
		}
		version, known = textOf(row[1]), true
		return table.Enough
	})
	switch {
	case err == nil && !known && lost == nil:
		if g == j1 { // which adds the row
			return ""
		}
		return "its table adk_internal_metadata does not name a version of the schema, and adk-python refuses to open such a database"
	case err != nil || !known:
		return "the version of its schema cannot be read"
	case version != "1":
		return fmt.Sprintf("its schema has the version %q, and this program knows what versions 0 and 1 mean", version)
	}
	return ""
}

// columnReleases are the releases of adk-python that brought columns of P0 (1.1).
// Older tables never get them, so that they tell when a table was made.
var columnReleases = []struct{ column, release string }{
	{"input_transcription", "1.19"},
	{"usage_metadata", "1.17"},
	{"custom_metadata", "1.14"},
	{"long_running_tool_ids_json", "0.3.0"},
}

func (g generation) runtime(s table.Schema) string {
	if known := traitsOf[g].runtime; known != "" {
		return known
	}
	before := ""
	for _, c := range columnReleases {
		if s.Has(tableEvents, c.column) {
			return "adk-python (DatabaseSessionService); its tables were made by " + c.release + " or later" + before
		}
		before = ", before " + c.release
	}
	return "adk-python (DatabaseSessionService); its tables were made by 0.1 or 0.2"
}

// advice is about what a runtime makes of the store that people should know.
func (g generation) advice(s table.Schema) []string {
	switch {
	case g == p0 && !s.Has(tableEvents, "input_transcription"):
		return []string{"The table events lacks columns that newer releases of adk-python ask for, and they do not add them: they fail with " +
			"\"column events.… does not exist\". `adk migrate session` writes a database of the newest schema."}
	case traitsOf[g].sends != "":
		return []string{traitsOf[g].sends + " sends a call without a result to the model as it is stored, and some models refuse such a request."}
	}
	return nil
}
