package cmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// nextCommands are what to type after a check: what is wrong with the session that
// somebody most likely asks for, and the plan of a repair of its store, where there is one.
func nextCommands(args []string, results []*check.Result) []render.Command {
	result, f := foremostFinding(results)
	if f == nil {
		return nil
	}
	explain := explainCommand([]*check.Finding{f})
	path := result.Store.Path
	if path == "-" {
		return []render.Command{explain}
	}
	if len(args) == 0 && len(results) == 1 {
		path = "" // it is found at its usual place
	}
	next := []render.Command{explain}
	switch {
	case f.Root != nil && result.Against:
		next = append(next, render.Command{Line: shell.ViewCommand(path, result.ShortID(f.Root.ID)), Why: "the session as it is"})
	case f.Root != nil && f.Root.Outlook == check.Resumes: // so that why finds nothing
		next[0] = render.Command{Line: shell.ViewCommand(path, result.ShortID(f.Root.ID)), Why: "the session, and what was found in it"}
	case f.Root != nil:
		next[0] = render.Command{Line: shell.SessionCommand("why", path, result.ShortID(f.Root.ID)), Why: "what is wrong, and what to do"}
	}
	if result.Recovery != "" { // which goes before a repair
		return next
	}
	if slices.ContainsFunc(check.FreshFindings(result.Findings), (*check.Finding).IsRepairable) {
		next = append(next, planCommand(result.Store, path))
	}
	if words := f.AllowWords(); words != nil && f.Severity > rules.Info {
		next = append(next, render.Command{
			Line: repairCommand(path, "--allow", strings.Join(words, ","), "--dry-run"), Why: "what a repair would do that has to be allowed",
		})
	}
	if len(next) == 1 && next[0] != explain {
		next = append(next, explain)
	}
	return next[:min(3, len(next))]
}

// planCommand shows what a repair would do. A store that is only read is exported before.
func planCommand(facts *session.Store, path string) render.Command {
	rewritten := slices.ContainsFunc(registry.Kinds, func(k store.Kind) bool { return k.Name == facts.Kind && k.Stream })
	if facts.ReadOnly != "" && !rewritten {
		return render.Command{
			Line: "sessctl export " + shell.Path(facts.Path) + " --output " + shell.Path(streamName(facts.Path)), Why: "a stream, which can be repaired",
		}
	}
	return render.Command{Line: repairCommand(path, "--dry-run"), Why: "what a repair would do"}
}

// explainCommand leads to the page of the rule that found most.
func explainCommand(findings []*check.Finding) render.Command {
	return render.Command{Line: "sessctl explain " + mostFrequent(findings).ID, Why: "what it means and what a repair costs"}
}

// foremostFinding is the finding that matters most, of those that no baseline knows: one that
// keeps a session from resuming before all others, then the most severe, one of a session
// before one of a store, and of those alike one of the newest session.
func foremostFinding(results []*check.Result) (in *check.Result, most *check.Finding) {
	rank := func(f *check.Finding) []int {
		return []int{oneIf(f.IsRefused() && f.Severity == rules.Error), int(f.Severity), oneIf(f.Root != nil)}
	}
	for _, r := range results {
		for _, f := range render.NewestFirst(check.FreshFindings(r.Findings)) {
			if most == nil || slices.Compare(rank(f), rank(most)) > 0 ||
				slices.Equal(rank(f), rank(most)) && f.Root != nil && f.Root.Created.After(most.Root.Created) {
				in, most = r, f
			}
		}
	}
	return in, most
}

func oneIf(is bool) int { return map[bool]int{true: 1}[is] }

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
