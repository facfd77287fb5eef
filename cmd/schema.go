package cmd

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/docs"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/ui"
)

func newSchemaCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schemas of what sessctl prints and writes",
		Long: `Print the JSON Schema of a document, of the lines of a stream, or of a file that
sessctl writes: of every --format json and ndjson, of plans, receipts and
baselines, and of the canonical stream. Without a name, list all of them.

` + exitStatus("printed"),
		Example: `  sessctl schema
  sessctl schema check > check.schema.json`,
		GroupID: groupOther,
		Args:    atMost(1, "one name"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return p.listSchemas()
			}
			return p.printSchema(args[0])
		},
	}
	cmd.ValidArgsFunction = oneOf(schemaNames()...)
	return cmd
}

func schemaNames() []string {
	files, _ := fs.Glob(docs.Schemas, "schema/*.json") // the pattern is a good one
	names := lists.MapEach(files, func(file string) string { return strings.TrimSuffix(path.Base(file), ".json") })
	slices.Sort(names)
	return names
}

func (p *program) listSchemas() error {
	table := document.Table{Columns: []document.Column{{Name: "SCHEMA"}, {Name: "WHAT IT IS OF", Give: document.Break}}}
	for _, name := range schemaNames() {
		text, err := docs.Schemas.ReadFile("schema/" + name + ".json")
		if err != nil {
			return err
		}
		var schema struct{ Title string }
		if err := json.Unmarshal(text, &schema); err != nil {
			return err
		}
		table.Rows = append(table.Rows, render.Cells(name, schema.Title))
	}
	return document.Lines(p.out)(document.Document{table})
}

func (p *program) printSchema(name string) error {
	if names := schemaNames(); !slices.Contains(names, name) {
		return problem.New(problem.Usage, ui.JoinSentences(problem.DidYouMean(name, names), "`sessctl schema` lists all."), "there is no schema %q", name)
	}
	text, err := docs.Schemas.ReadFile("schema/" + name + ".json")
	if err != nil {
		return err
	}
	_, err = p.out.Plain().Write(text)
	return err
}
