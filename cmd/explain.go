package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/ui"
)

func newExplainCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [RULE...]",
		Short: "Say what a rule finds, why it matters and what a repair costs",
		Long: `Print the page of a rule, by its id or its name. Without a rule, list all of
them with their severity and with what a repair costs.

` + exitStatus("printed"),
		Example: `  sessctl explain
  sessctl explain SC701
  sessctl explain leak-duplicate --format markdown`,
		GroupID:           groupOther,
		RunE:              func(_ *cobra.Command, args []string) error { return runExplain(p, args) },
		ValidArgsFunction: completeRules,
	}
	addFormatFlag(cmd, "text", "json", "markdown")
	addPagerFlag(cmd)
	return cmd
}

func runExplain(p *program, words []string) error {
	if len(words) == 0 {
		return p.listRules()
	}
	var pages []render.Page
	for _, word := range words {
		rule := catalogue.FindRule(word)
		if rule == nil {
			return unknownRule(word)
		}
		text, err := rule.Page()
		if err != nil {
			return err
		}
		pages = append(pages, render.Page{Rule: rule, Markdown: text})
	}
	if p.config.Format == "json" {
		return machine.PrintRules(p.out.Plain(), thisTool(), pages)
	}
	return render.PrintRules(p.out, pages, p.config.Format != "markdown" && p.out.Color)
}

func (p *program) listRules() error {
	switch p.config.Format {
	case "json":
		pages := make([]render.Page, len(catalogue.All))
		for i, r := range catalogue.All {
			pages[i].Rule = r
		}
		return machine.PrintRules(p.out.Plain(), thisTool(), pages)
	case "markdown":
		return render.RulesMarkdown(p.out, catalogue.All)
	}
	return render.RulesText(p.out, catalogue.All)
}

// unknownRule suggests the rules whose name has the word in it, or else those that are
// called nearly so.
func unknownRule(word string) error {
	const most, least = 5, 3 // suggestions, and letters of a part of a name
	var similar, words []string
	for _, r := range catalogue.All {
		words = append(words, r.ID, r.Name)
		if len(word) >= least && strings.Contains(r.Name, strings.ToLower(word)) {
			similar = append(similar, r.ID+" ("+r.Name+")")
		}
	}
	near := problem.DidYouMean(word, words)
	if len(similar) > 0 {
		near = "Did you mean " + strings.Join(similar[:min(len(similar), most)], ", ") + "?"
	}
	return problem.New(problem.Usage, ui.JoinSentences(near, "`sessctl explain` lists the rules."), "%v", catalogue.UnknownRule(word))
}
