package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/views"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
)

func newViewCommand(p *program) *cobra.Command {
	var newest string
	cmd := &cobra.Command{
		Use:   "view [STORE] SESSION",
		Short: "Show a session as it is, or what the next run would send",
		Long: `Show the items of a session with its sub-sessions in their places, and what is
wrong with them. Nothing is changed.

SESSION is an id, the beginning of one, -1 for the newest session, -2 for the one
before, or words of a title. STORE is a file, a folder with stores in it, or - for a
canonical stream on standard input; without one, the usual places are searched.
A store with one session only may stand alone.

With --model-input, show what the next run would send to its model: the messages
as the provider counts them, what has to be sent otherwise than it is stored, and
what would be refused. The provider is the one whose model the session recorded,
and else the strictest common form (generic); --profile names another.

With --lanes, show what happened between the agents, time downwards: a column for
each agent, with arcs where one asks another and gets its answer, and a dotted one
from a leaked message to the agent that it belongs to.

With --isolation, show for each child that the session and those below it started
what went in, what came out, and what crossed the border besides.

With --branch, --agent or --all, show which events that agent or every agent could
see when it ran, and why not the others. --branch takes the name of an agent, too, and
without a word it is --all. Branches are compared as the store's own reader does; --visibility takes another model, and --compare-visibility compares two.

` + exitStatus("shown, whatever was found", storeCodes...),
		Example: `  sessctl view 1f0c
  sessctl view -1 --full
  sessctl view session.db 1f0c --model-input
  sessctl view 1f0c --lanes
  sessctl view 1f0c --branch orch.researcher
  sessctl view 1f0c --all --compare-visibility path,tokens
  sessctl view 1f0c --format html > session.html`,
		GroupID: groupStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if newest != "" {
				args = append(args, "-"+newest)
			}
			return runView(cmd, p, args)
		},
		ValidArgsFunction: p.completeView,
	}
	addFormatFlag(cmd, "text", "json", "markdown", "html", "mermaid")
	addPagerFlag(cmd)
	addStoreFlag(cmd)
	cmd.Flags().Bool("full", false, "show whole texts, arguments, results and reasoning")
	addLensFlags(cmd)
	addProfileFlags(cmd)
	addAssumeDeadFlag(cmd)
	addDigitFlags(cmd.Flags(), &newest)
	completeFlag(cmd, "branch", p.viewerWords(&newest, func(v view.Viewer) string { return v.Branch }))
	completeFlag(cmd, "agent", p.viewerWords(&newest, func(v view.Viewer) string { return v.Agent }))
	return cmd
}

func runView(cmd *cobra.Command, p *program, args []string) error {
	borders, err := cmd.Flags().GetBool("isolation")
	if err != nil {
		return err
	}
	if len(args) < 1 || len(args) > 2 {
		return problem.New(problem.Usage, "`sessctl ls` lists the sessions.",
			"`sessctl view` takes a SESSION and before it, if need be, a STORE; there are %s", countArguments(len(args)))
	}
	judge, err := p.viewJudge()
	if err != nil {
		return err
	}
	question, err := p.parseQuestion(borders)
	if err != nil {
		return err
	}
	if borders {
		if err := p.onlyBorders(question); err != nil {
			return err
		}
	}
	return p.retryStopped(cmd.Context(), func() error { return p.viewSession(cmd.Context(), args, judge, question, borders) })
}

func (p *program) viewSession(ctx context.Context, args []string, judge rules.Judge, question *view.Question, borders bool) error {
	p.texts = true
	s := &search{program: p, judged: judge, asked: question, borders: borders, opened: map[string]*registry.Opened{}}
	if question != nil && p.config.Format != "json" {
		p.bodies = func(one *session.Session) bool {
			return s.sessions.Name == "" || view.FitsName(one.ID, one.Title, s.sessions.Name)
		}
	}
	found, err := s.resolveArguments(ctx, args)
	if err == nil {
		err = s.printView(ctx, found)
	}
	return errors.Join(cmp.Or(err, withCode(s.code)), s.closeStores())
}

// viewJudge is for whom the request is shown: one provider at most. Without
// --model-input there is no request, so flags that are about it are an error;
// what the environment and the configuration file say is for check too.
func (p *program) viewJudge() (rules.Judge, error) {
	c := p.config
	for _, flag := range []string{"profile", "as-is"} {
		if source := c.Sources[flag]; !c.ModelInput && source == "--"+flag {
			return rules.Judge{}, problem.New(problem.Usage, "Add --model-input, or leave it out.", "%s is about the request", source)
		}
	}
	if c.ModelInput && len(c.Profile) > 1 {
		return rules.Judge{}, problem.New(problem.Usage, "Name one with --profile.",
			"a request is shown for one provider; %s names %d", c.Sources["profile"], len(c.Profile))
	}
	return p.parseJudge()
}

func countArguments(n int) string {
	if n == 0 {
		return "no arguments"
	}
	return fmt.Sprintf("%d arguments", n)
}

func (s *search) printView(ctx context.Context, found view.Known) error {
	opened := s.opened[found.Store]
	if err := s.assumeDead(opened.Facts()); err != nil {
		return err
	}
	in, incomplete, err := s.examineSession(ctx, opened, found)
	if err != nil {
		return err
	}
	v, err := s.buildView(ctx, opened, in)
	if err != nil {
		return err
	}
	opts := views.Options{Screen: s.out, Full: s.config.Full}
	if !s.config.Quiet {
		opts.Next = s.nextAfterView(v, found)
	}
	if s.wantsPage() {
		opts.Rest = shell.ViewCommand(found.Store, s.shortenID(v, found.ID))
		if seen, err := view.BuildVisibility(in, view.Question{All: true}); err == nil {
			v.Visibility = seen.Visibility
		}
	}
	if err := views.PrintView(s.config.Format, v, opts); err != nil {
		return err
	}
	if changed := opened.Changed(); changed != "" {
		s.printNote("%s: view it again", changed)
		s.code = max(s.code, int(problem.Busy))
	}
	if incomplete != "" {
		return problem.New(problem.Unreadable, seeCheck, "the view is incomplete: %s", incomplete)
	}
	return nil
}

// examineSession reads the tree of a session and what is wrong with it, unless nothing of
// that is printed.
func (s *search) examineSession(ctx context.Context, opened *registry.Opened, found view.Known) (in view.Input, incomplete string, err error) {
	in = view.Input{Store: opened.Facts(), Session: found.ID, Request: s.config.ModelInput || s.wantsPage(), Lanes: s.config.Lanes || s.wantsPage(), Judge: s.judged}
	one := oneSession{Store: opened, found: found}
	if s.asked != nil && s.config.Format != "json" {
		for tree, err := range one.Trees(ctx) {
			if err != nil {
				return in, "", err
			}
			in.Tree = tree
		}
		return in, session.IncompleteReason(in.Store, in.Tree), nil
	}
	run := catalogue.UsualRules()
	if s.borders {
		if run, err = catalogue.SelectRules(aboutAgents, nil); err != nil {
			return in, "", err
		}
	}
	result, err := check.Run(ctx, one, check.Options{
		Rules: run, Judge: in.Judge, Session: found.ID, Bodies: s.borders,
		EachTree: func(tree *session.Tree, _ []*check.Finding) { in.Tree = tree },
	})
	in.Findings = result.Findings
	if err == nil && in.Tree != nil {
		incomplete = session.IncompleteReason(in.Store, in.Tree)
	}
	return in, cmp.Or(result.Incomplete, incomplete), err
}

// wantsPage reports whether all that is known of the session goes on one page.
func (s *search) wantsPage() bool { return s.config.Format == "html" && s.asked == nil && !s.borders }

// buildView makes the view. Texts are loaded only where they are printed.
func (s *search) buildView(ctx context.Context, opened *registry.Opened, in view.Input) (*view.View, error) {
	textless := s.asked != nil && s.config.Format == "json" && !s.config.Full
	lens := s.asked != nil || s.borders || in.Request || in.Lanes
	switch parts, can := opened.Store.(store.PartFiller); {
	case textless:
	case can && !lens && !registry.OnServer(in.Store.Path): // which may stop a reading that then begins anew
		in.Load = s.loadParts(ctx, parts, in.Tree)
	default:
		if err := opened.Fill(ctx, in.Tree); err != nil {
			return nil, err
		}
		dropStored(in.Tree)
	}
	if s.asked != nil {
		v, err := view.BuildVisibility(in, *s.asked)
		if err == nil && v.Visibility.Viewers[0].Note != "" {
			s.printNote("%s", v.Visibility.Viewers[0].Note)
		}
		return v, err
	}
	if s.borders {
		return view.BuildBorders(in), nil
	}
	return view.BuildView(in), nil
}

// loadParts loads the texts of parts of a tree, from the first time on that one is asked for.
func (s *search) loadParts(ctx context.Context, from store.PartFiller, tree *session.Tree) func(*session.Tree) error {
	return func(part *session.Tree) (err error) {
		if s.parts == nil {
			if s.parts, err = from.FillParts(ctx, tree); err != nil {
				return err
			}
		}
		return s.parts.Fill(part)
	}
}

// dropStored takes the stored bytes from messages, whose texts are shown.
func dropStored(tree *session.Tree) {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.Message && it.Body != nil {
				it.Body.Raw = nil
			}
		}
	}
}

// nextAfterView are the commands that lead on from a view.
func (s *search) nextAfterView(v *view.View, found view.Known) []render.Command {
	named := ""
	if s.named {
		named = found.Store
	}
	if v.Visibility != nil {
		if found.Store == "-" {
			return nil
		}
		return s.nextVisible(v, named, found)
	}
	var next []render.Command
	if len(v.Findings) > 0 {
		next = append(next, explainCommand(v.Findings))
	}
	if found.Store == "-" {
		return next
	}
	if slices.ContainsFunc(v.Findings, (*check.Finding).IsRepairable) {
		next = append(next, planCommand(v.Store, named))
	}
	if v.Request == nil && len(v.Findings) > 0 {
		next = append(next, render.Command{Line: shell.ViewCommand(named, s.shortenID(v, found.ID), "--model-input"), Why: "what the next run would send"})
	}
	if v.Others > 0 && v.Shown.Parent != "" {
		next = append(next, render.Command{Line: shell.ViewCommand(named, s.shortenID(v, v.Shown.Parent)), Why: "the session around this one"})
	}
	return next
}

// shortenID is the beginning of an id, if it is known to mean this session only.
func (s *search) shortenID(v *view.View, id string) string {
	if opened := s.opened[v.Store.Path]; opened != nil { // which may know more sessions than it read
		if known, ok := opened.Store.(interface{ Begins(id string) int }); ok && known.Begins(rules.ShortID(id)) > 1 {
			return id
		}
	}
	if v.Store.Read == session.ByIndex {
		return id
	}
	if found, err := view.ChooseSession(s.sessions.Known, rules.ShortID(id)); err == nil && found.ID == id {
		id = rules.ShortID(id)
	}
	return id
}

// addLensFlags declares what `view` shows in place of the items.
func addLensFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("model-input", false, "show what the next run would send")
	cmd.Flags().Bool("lanes", false, "show what happened between agents, a column for each")
	cmd.Flags().Bool("isolation", false, "show what went into sub-sessions and came out")
	cmd.Flags().String("branch", "", "show what the viewer on this branch (`LABEL`) sees")
	cmd.Flags().String("agent", "", "show what the agent `NAME` sees")
	cmd.Flags().Bool("all", false, "show what every agent sees")
	addChoice(cmd, "visibility", "", modelNames(), "decide by this rule (default: the store's own)")
	cmd.Flags().StringSlice("compare-visibility", nil, "show where two rules disagree: `path,tokens`")
	cmd.Flags().Bool("tokens", false, "show who held which tokens, and what they let it see")
}

func modelNames() []string {
	return lists.MapEach(branch.Models, func(m branch.Named) string { return m.Name })
}

// completeBranch gives --branch without a label, which is last or before another flag, the
// meaning of --all.
func completeBranch(args []string) []string {
	args = slices.Clone(args)
	view := slices.Index(args, "view")
	for i := max(view, 0); view >= 0 && i < len(args) && args[i] != "--"; i++ {
		if args[i] == "--branch" && (i+1 == len(args) || strings.HasPrefix(args[i+1], "-")) {
			args[i] = "--all"
		}
	}
	return args
}

// parseQuestion parses what the flags of addLensFlags ask, nil when they ask nothing.
func (p *program) parseQuestion(borders bool) (*view.Question, error) {
	c := p.config
	q := &view.Question{Agent: c.Agent, Model: c.Visibility, Diff: c.Compared, Tokens: c.Tokens}
	// A file or an environment that says "all" means `sessctl ls`.
	q.All = c.All && c.Sources["all"] == "--all"
	if c.Sources["branch"] != "default" {
		q.Branch = &c.Branch
	}
	viewer := q.Branch != nil || q.Agent != "" || q.All
	oneModel := len(q.Diff) == 0 && !q.Tokens
	drawable, asked := viewer && oneModel, viewer || !oneModel
	if err := p.onlyLanes(asked || borders); err != nil {
		return nil, err
	}
	p.passOver(q, drawable)
	switch {
	case c.Agent == "" && c.Sources["agent"] == "--agent":
		return nil, problem.New(problem.Usage, "`--all` shows every agent.", "--agent names no agent")
	case c.Format == "mermaid" && !drawable && !c.Lanes:
		return nil, problem.New(problem.Usage, "Add --lanes, or --branch, --agent or --all without --compare-visibility and --tokens.", "a diagram shows lanes, or what viewers see under one rule")
	case q.Model != "" && !asked:
		return nil, problem.New(problem.Usage, "Add --branch, --agent or --all.", "--visibility says how branches are compared, and no viewer is named")
	case !asked:
		return nil, checkDiff(c, q)
	case c.ModelInput:
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--model-input shows a request, and --branch, --agent, --all, --compare-visibility and --tokens who sees what")
	case q.All && q.Branch != nil:
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--all is about every viewer, %s about one", c.Sources["branch"])
	case q.All && q.Agent != "":
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--all is about every viewer, %s about one", c.Sources["agent"])
	case q.Tokens && (len(q.Diff) > 0 || q.Model != "" && q.Model != "tokens"):
		return nil, problem.New(problem.Usage, "Leave one of them out.", "--tokens is about the rule tokens alone")
	}
	return q, checkDiff(c, q)
}

// passOver leaves out what the environment or the configuration file says of a
// viewer under one model, where the question is another one: a flag that does not
// fit is an error, a setting is for whatever it fits.
func (p *program) passOver(q *view.Question, fits bool) {
	c := p.config
	if c.Sources["visibility"] != "--visibility" && !fits {
		q.Model = ""
	}
	if c.Sources["format"] != "--format" && c.Format == "mermaid" && !fits && !c.Lanes {
		c.Format = "text"
	}
}

// checkDiff checks that two models are compared.
func checkDiff(c *config.Config, q *view.Question) error {
	if len(q.Diff) == 0 && c.Sources["compare-visibility"] != "--compare-visibility" {
		return nil
	}
	names := modelNames()
	for _, name := range q.Diff {
		if !slices.Contains(names, name) {
			return problem.New(problem.Usage, problem.DidYouMean(name, names), "there is no visibility rule %q: use two of %s", name, strings.Join(names, ", "))
		}
	}
	switch {
	case len(q.Diff) != 2 || q.Diff[0] == q.Diff[1]:
		return problem.New(problem.Usage, "Name two, as in --compare-visibility path,tokens.", "a comparison takes two different rules, and --compare-visibility names %s",
			cmp.Or(strings.Join(q.Diff, ", "), "none"))
	case q.Model != "":
		return problem.New(problem.Usage, "Leave one of them out.", "--compare-visibility compares two rules, and --visibility names one")
	}
	return nil
}

// nextVisible are the commands that lead on from what viewers see. named is the store,
// where somebody named it.
func (s *search) nextVisible(v *view.View, named string, found view.Known) []render.Command {
	id := s.shortenID(v, found.ID)
	var next []render.Command
	if v.Visibility.Single && v.Visibility.HasAgent() {
		next = append(next, render.Command{Line: shell.ViewCommand(named, id, "--all"), Why: "what every agent sees"})
	}
	if models := v.Visibility.Models; len(models) == 1 && models[0].Name == "path" && len(v.Visibility.Viewers) > 1 {
		next = append(next, render.Command{Line: shell.ViewCommand(named, id, "--compare-visibility", "path,tokens"), Why: "what token sets would show besides"})
	}
	return append(next, render.Command{Line: shell.ViewCommand(named, id), Why: "the session itself, and what is wrong with it"})
}

// aboutAgents are the groups of rules about sessions and their children.
var aboutAgents = []string{"SC7", "SC8"}

// onlyBorders refuses what does not go with `view --isolation`.
func (p *program) onlyBorders(question *view.Question) error {
	c := p.config
	switch {
	case question != nil:
		return problem.New(problem.Usage, "Leave one of them out.", "--isolation shows what passed between sessions, and --branch, --agent, --all, --compare-visibility and --tokens who sees what")
	case c.ModelInput && c.Sources["model-input"] == "--model-input":
		return problem.New(problem.Usage, "Leave one of them out.", "--isolation shows what passed between sessions, and --model-input a request")
	}
	c.ModelInput = false
	return nil
}

// onlyLanes refuses what does not go with `view --lanes`. A setting of it is for what it fits.
func (p *program) onlyLanes(asked bool) error {
	c := p.config
	if !c.Lanes {
		return nil
	}
	request := c.ModelInput && c.Sources["model-input"] == "--model-input"
	c.Lanes = !asked && !request
	if !c.Lanes && c.Sources["lanes"] == "--lanes" {
		return problem.New(problem.Usage, "Leave one of them out.",
			"--lanes shows what happened between agents; --model-input shows a request, --isolation what passed between sessions, and --branch, --agent, --all, --compare-visibility and --tokens who sees what")
	}
	c.ModelInput = c.ModelInput && !c.Lanes
	return nil
}

// addDigitFlags lets -1, -2 and so on be arguments although they begin as flags
// do: every digit is a hidden flag that adds itself to what was typed.
func addDigitFlags(flags *pflag.FlagSet, typed *string) {
	for _, d := range "0123456789" {
		f := flags.VarPF(&digit{typed, string(d)}, "newest-"+string(d), string(d), "")
		f.NoOptDefVal, f.Hidden = string(d), true
	}
}

type digit struct {
	typed *string
	digit string
}

func (d *digit) String() string   { return "" }
func (d *digit) Type() string     { return "" }
func (d *digit) Set(string) error { *d.typed += d.digit; return nil }
