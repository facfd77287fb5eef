package cmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
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
	completeFlag(cmd, "diff", listOf(always(modelNames())))
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
	oneModel := len(q.Diff) == 0 && !q.Tokens
	drawable, asked := viewer && oneModel, viewer || !oneModel
	p.passOver(q, drawable)
	switch {
	case c.Agent == "" && c.Sources["agent"] == "--agent":
		return nil, problem.New(problem.Usage, "`--all` shows every agent.", "--agent names no agent")
	case c.Format == "mermaid" && !drawable:
		return nil, problem.New(problem.Usage, "Add --branch, --agent or --all, without --diff and --tokens.", "a diagram shows what viewers see under one model")
	case q.Model != "" && !asked:
		return nil, problem.New(problem.Usage, "Add --branch, --agent or --all.", "--model says how branches are compared, and no viewer is named")
	case !asked:
		return nil, checkDiff(c, q)
	case c.ModelInput:
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--model-input shows a request, and --branch, --agent, --all, --diff and --tokens who sees what")
	case q.All && q.Branch != nil:
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--all is about every viewer, %s about one", c.Sources["branch"])
	case q.All && q.Agent != "":
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--all is about every viewer, %s about one", c.Sources["agent"])
	case q.Tokens && (len(q.Diff) > 0 || q.Model != "" && q.Model != "tokens"):
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--tokens is about the model tokens alone")
	}
	return q, checkDiff(c, q)
}

// passOver leaves out what the environment or the configuration file says of a
// viewer under one model, where the question is another one: a flag that does not
// fit is an error, a setting is for whatever it fits.
func (p *program) passOver(q *view.Question, fits bool) {
	c := p.config
	if c.Sources["model"] != "--model" && !fits {
		q.Model = ""
	}
	if c.Sources["format"] != "--format" && c.Format == "mermaid" && !fits {
		c.Format = "text"
	}
}

// checkDiff checks that two models are compared.
func checkDiff(c *config.Config, q *view.Question) error {
	if len(q.Diff) == 0 && c.Sources["diff"] != "--diff" {
		return nil
	}
	names := modelNames()
	for _, name := range q.Diff {
		if !slices.Contains(names, name) {
			return problem.New(problem.Usage, "", "there is no model %q: use two of %s", name, strings.Join(names, ", "))
		}
	}
	switch {
	case len(q.Diff) != 2 || q.Diff[0] == q.Diff[1]:
		return problem.New(problem.Usage, "Name two, as in --diff path,tokens.", "a comparison takes two different models, and --diff names %s",
			cmp.Or(strings.Join(q.Diff, ", "), "none"))
	case q.Model != "":
		return problem.New(problem.Usage, "Leave one of them out.", "--diff compares two models, and --model names one")
	}
	return nil
}

// nextVisible are the commands that lead on from what viewers see. named is the store,
// where somebody named it.
func (s *search) nextVisible(v *view.View, named string, found view.Known) []render.Command {
	id := s.short(found.ID)
	var next []render.Command
	if v.Visibility.Single && spoken(v.Visibility) {
		next = append(next, render.Command{Line: shell.View(named, id, "--all"), Why: "what every agent sees"})
	}
	if models := v.Visibility.Models; len(models) == 1 && models[0].Name == "path" && len(v.Visibility.Viewers) > 1 {
		next = append(next, render.Command{Line: shell.View(named, id, "--diff", "path,tokens"), Why: "what token sets would show besides"})
	}
	return append(next, render.Command{Line: shell.View(named, id), Why: "the session itself, and what is wrong with it"})
}

// spoken reports whether there is an agent that `--all` could show.
func spoken(v *view.Visibility) bool {
	return v.Viewers[0].Agent != "" || slices.ContainsFunc(v.Events, func(e view.Event) bool {
		return e.Stored().Role == session.Assistant
	})
}
