package render_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render/checks"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// inTable is a check of a broken session, and of a record of the store itself, whose
// rows are in a table of this name.
func inTable(t *testing.T, table string) (*check.Result, *view.View) {
	t.Helper()
	tree := treetest.Tree(t, "P\n  user\n  root c1()\n  user\n")
	for i := range tree.Root().Items {
		tree.Root().Items[i].Own().Table = table
	}
	st := &memory{session.Store{
		Path: "session.db", Kind: "adk", Title: "Google ADK", Writer: session.WriterDead,
		Condition: session.Condition{
			Faults: []session.Fault{
				{Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: "gone", Table: table, Key: "17"}, Count: 2, Detail: "2 events name a session that is not there"},
			},
		},
	}, tree}
	judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("gemini")}}
	result, err := check.Run(t.Context(), st, check.Options{Rules: catalogue.UsualRules(), Judge: judge})
	if err != nil {
		t.Fatal(err)
	}
	var own []*check.Finding
	for _, f := range result.Findings {
		if f.Session == "P" {
			own = append(own, f)
		}
	}
	return result, view.BuildView(view.Input{Store: &st.facts, Tree: tree, Findings: own, Session: "P", Judge: judge})
}

// TestATableMayHaveAnyName: what a finding is about is not told by the name of a
// table. ADK's rows are in "events", which is also what the items of a recording are
// said to be in, and kagent's in "event".
func TestATableMayHaveAnyName(t *testing.T) {
	for _, format := range checks.FormatNames() {
		plain := ""
		for _, table := range []string{"events", "record", "titles"} { // as long as each other: columns are
			result, _ := inTable(t, table)
			out, _ := (&checked{max: 10, results: []any{result}}).print(t, format)
			out = fingerprints.ReplaceAllString(strings.ReplaceAll(out, table+"/", "TABLE/"), `"FINGERPRINT"`)
			if plain == "" {
				if plain = out; format != "sarif" && format != "html" { // which hold the pages of the rules, or style and script
					goldenIn(t, "check", "table."+format, out)
				}
			}
			if out != plain {
				t.Errorf("%s with the table %q:\n%s\nwith another:\n%s", format, table, out, plain)
			}
		}
	}
	for _, format := range []string{"text", "markdown", "json"} {
		_, v := inTable(t, "events")
		out := fingerprints.ReplaceAllString(printed(t, format, v, narrow, false), `"FINGERPRINT"`)
		goldenIn(t, "view", "table."+format, out)
		_, v = inTable(t, "messages")
		other := fingerprints.ReplaceAllString(printed(t, format, v, narrow, false), `"FINGERPRINT"`)
		if strings.ReplaceAll(out, "events/", "") != strings.ReplaceAll(other, "messages/", "") {
			t.Errorf("%s: the name of the table changes the view:\n%s\n%s", format, out, other)
		}
	}
}

// fingerprints hold the name of the record.
var fingerprints = regexp.MustCompile(`"[0-9a-f]{16}"`)
