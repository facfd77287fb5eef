package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/view"
)

// addVisibilityFlags declares what `view` is asked about who could see what.
func addVisibilityFlags(cmd *cobra.Command) {
	cmd.Flags().String("branch", "", "show what the viewer on this branch (`LABEL`) sees; '' is the one without a branch")
	cmd.Flags().String("agent", "", "show what the agent `NAME` sees, on each of its branches")
	cmd.Flags().Bool("all", false, "show what every agent sees")
	addChoice(cmd, "model", "", modelNames(), "decide by this model instead of the one of the store's own reader")
	cmd.Flags().StringSlice("diff", nil, "show where two `MODELS` disagree: path,tokens")
	cmd.Flags().Bool("tokens", false, "show who held which tokens, and what they let it see")
	completeFlag(cmd, "diff", func(*cobra.Command, []string) []string { return modelNames() })
}

func modelNames() []string {
	var names []string
	for _, m := range branch.Models {
		names = append(names, m.Name)
	}
	return names
}

// question is what the flags of addVisibilityFlags ask, nil when they ask nothing.
func (p *program) question() (*view.Question, error) {
	c := p.config
	q := &view.Question{Agent: c.Agent, Model: c.Model, Diff: c.Diff, Tokens: c.Tokens}
	// A file or an environment that says "all" means `sessctl ls`.
	q.All = c.All && c.Sources["all"] == "--all"
	if c.Sources["branch"] != "default" {
		q.Branch = &c.Branch
	}
	viewer := q.Branch != nil || q.Agent != "" || q.All
	asked := viewer || len(q.Diff) > 0 || q.Tokens
	switch {
	case c.Format == "mermaid" && (!viewer || len(q.Diff) > 0 || q.Tokens):
		return nil, problem.New(problem.Usage, "Add --branch, --agent or --all, without --diff and --tokens.", "a diagram shows what viewers see under one model")
	case q.Model != "" && !asked:
		return nil, problem.New(problem.Usage, "Add --branch, --agent or --all.", "--model says how branches are compared, and no viewer is named")
	case !asked:
		return nil, nil
	case c.ModelInput:
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--model-input shows a request, and --branch, --agent, --all, --diff and --tokens who sees what")
	case q.All && (q.Branch != nil || q.Agent != ""):
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--all is about every viewer, --branch and --agent are about one")
	case q.Tokens && (len(q.Diff) > 0 || q.Model != "" && q.Model != "tokens"):
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--tokens is about the model tokens alone")
	}
	return q, checkDiff(q)
}

// checkDiff checks that two models are compared.
func checkDiff(q *view.Question) error {
	names := modelNames()
	for _, name := range q.Diff {
		if !slices.Contains(names, name) {
			return problem.New(problem.Usage, "", "there is no model %q: use two of %s", name, strings.Join(names, ", "))
		}
	}
	switch {
	case len(q.Diff) > 0 && (len(q.Diff) != 2 || q.Diff[0] == q.Diff[1]):
		return problem.New(problem.Usage, "Name two, as in --diff path,tokens.", "a comparison takes two different models, and --diff names %s", strings.Join(q.Diff, ", "))
	case len(q.Diff) > 0 && q.Model != "":
		return problem.New(problem.Usage, "Leave one of them out.", "--diff compares two models, and --model names one")
	}
	return nil
}

// nextVisible are the commands that lead on from what viewers see. this is the
// command so far.
func (s *search) nextVisible(v *view.View, this string, found view.Known) []render.Command {
	this += s.short(found.ID)
	var next []render.Command
	if v.Visibility.Single {
		next = append(next, render.Command{Line: this + " --all", Why: "what every agent sees"})
	}
	if models := v.Visibility.Models; len(models) == 1 && models[0].Name == "path" && len(v.Visibility.Viewers) > 1 {
		next = append(next, render.Command{Line: this + " --diff path,tokens", Why: "what token sets would show besides"})
	}
	return append(next, render.Command{Line: this, Why: "the session itself, and what is wrong with it"})
}
