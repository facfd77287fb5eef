package cmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
)

// nextCommands are what to type after a check, as far as this program has the
// commands: what the worst findings mean, and the first session that has one.
func nextCommands(root *cobra.Command, args []string, results []*check.Result) []render.Command {
	result, worst := worstOf(results)
	if len(worst) == 0 {
		return nil
	}
	var next []render.Command
	add := func(name, rest, why string) {
		if slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }) {
			next = append(next, render.Command{Line: strings.TrimSpace("sessctl " + name + " " + rest), Why: why})
		}
	}
	path := shellWord(result.Store.Path) + " "
	if len(args) == 0 && len(results) == 1 {
		path = ""
	}
	add("explain", mostFrequent(worst).ID, "what it means and what a repair costs")
	if at := slices.IndexFunc(worst, func(f *check.Finding) bool { return f.Session != "" }); at >= 0 && result.Store.Path != "-" {
		add("view", path+shellWord(rules.Short(worst[at].Root.ID)), "the session as it is")
	}
	add("repair", path+"--dry-run", "what a repair would do")
	return next
}

// worstOf are the findings of the highest severity, and the first result that
// has one.
func worstOf(results []*check.Result) (*check.Result, []*check.Finding) {
	for _, severity := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		for _, r := range results {
			worst := slices.DeleteFunc(slices.Clone(r.Findings), func(f *check.Finding) bool { return f.Severity != severity })
			if len(worst) > 0 {
				return r, worst
			}
		}
	}
	return nil, nil
}

// mostFrequent is the rule with the most findings; of equals, the one found first.
func mostFrequent(findings []*check.Finding) *rules.Rule {
	counts := map[*rules.Rule]int{}
	for _, f := range findings {
		counts[f.Rule]++
	}
	return slices.MaxFunc(findings, func(a, b *check.Finding) int { return cmp.Compare(counts[a.Rule], counts[b.Rule]) }).Rule
}

// shellWord quotes a path for a shell if it needs that.
func shellWord(path string) string {
	const plain = "/._-+:@%,=0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if path != "" && strings.Trim(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
