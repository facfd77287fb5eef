package cmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/shell"
)

// nextCommands are what to type after a check: what the worst findings mean,
// the first session that has one, and the plan of a repair where one is made
// without more ado, or of something wrong with what has to be allowed.
func nextCommands(args []string, results []*check.Result) []render.Command {
	result, worst := worstOf(results)
	if len(worst) == 0 {
		return nil
	}
	next := []render.Command{explainCommand(worst)}
	path := result.Store.Path
	if len(args) == 0 && len(results) == 1 {
		path = "" // it is found at its usual place
	}
	if at := slices.IndexFunc(worst, func(f *check.Finding) bool { return f.Session != "" }); at >= 0 && result.Store.Path != "-" {
		next = append(next, render.Command{Line: shell.View(path, rules.Short(worst[at].Root.ID)), Why: "the session as it is"})
	}
	if result.Store.Path == "-" || result.Recovery != "" { // which goes before a repair
		return next
	}
	if slices.ContainsFunc(check.Fresh(result.Findings), repairable) {
		next = append(next, render.Command{Line: repairCommand(path, "--dry-run"), Why: "what a repair would do"})
	}
	if words := worst[0].Allow(); words != nil && worst[0].Severity > rules.Info {
		next = append(next, render.Command{
			Line: repairCommand(path, "--allow", strings.Join(words, ","), "--dry-run"), Why: "what a repair would do that has to be allowed",
		})
	}
	return next
}

// repairable reports whether a finding has a repair that needs no --allow and no
// --select.
func repairable(f *check.Finding) bool {
	return !f.Accepted() && slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool {
		return len(fix.Edits) > 0 && len(fix.Allow) == 0 && fix.Safety <= rules.Kept
	})
}

// explainCommand leads to the page of the rule that found most.
func explainCommand(findings []*check.Finding) render.Command {
	return render.Command{Line: "sessctl explain " + mostFrequent(findings).ID, Why: "what it means and what a repair costs"}
}

// worstOf are the findings of the highest severity that no baseline knows, and the
// first result that has one.
func worstOf(results []*check.Result) (*check.Result, []*check.Finding) {
	for _, severity := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		for _, r := range results {
			worst := slices.DeleteFunc(check.Fresh(r.Findings), func(f *check.Finding) bool { return f.Severity != severity })
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

// beforeDashes parts a command line at --, behind which nothing is a flag.
func beforeDashes(args []string) (flags, rest []string) {
	if at := slices.Index(args, "--"); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}

// repairCommand repairs a store, "" for the one at its usual place.
func repairCommand(store string, flags ...string) string {
	words := []string{"sessctl repair"}
	if store != "" {
		words = append(words, shell.Path(store))
	}
	return strings.Join(append(words, flags...), " ")
}
