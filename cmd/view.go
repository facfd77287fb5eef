package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
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

SESSION is an id, the unique beginning of one, or -1 for the newest session, -2
for the one before. STORE is a file, a folder with stores in it, or - for a
canonical stream on standard input; without one, the usual places are searched.
A store with one session only may stand alone.

With --model-input, show what the next run would send to its model, numbered as
Anthropic-type providers count messages, and what they would refuse.

` + exitStatus("shown, whatever was found", storeCodes...),
		Example: `  sessctl view 1f0c
  sessctl view -1 --full
  sessctl view session.db 1f0c --model-input
  sessctl view 1f0c --format markdown > session.md`,
		GroupID: groupStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if newest != "" {
				args = append(args, "-"+newest)
			}
			return runView(cmd.Context(), p, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.sessionWords(cmd, args), cobra.ShellCompDirectiveDefault
		},
	}
	addFormatFlag(cmd, "text", "json", "markdown")
	addStoreFlag(cmd)
	cmd.Flags().Bool("full", false, "show whole texts, arguments, results and reasoning")
	cmd.Flags().Bool("model-input", false, "show what the next run would send")
	addDigitFlags(cmd.Flags(), &newest)
	return cmd
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

func runView(ctx context.Context, p *program, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return problem.New(problem.Usage, "`sessctl ls` lists the sessions.",
			"`sessctl view` takes a SESSION and before it, if need be, a STORE; there are %s", countArguments(len(args)))
	}
	s := &search{program: p}
	defer func() { _ = s.close() }()
	found, err := s.find(ctx, args)
	if err != nil {
		return err
	}
	if err := s.show(ctx, found); err != nil {
		return err
	}
	return withCode(s.code)
}

func countArguments(n int) string {
	if n == 0 {
		return "no arguments"
	}
	return fmt.Sprintf("%d arguments", n)
}

// search looks for one session in several stores. They stay open, because
// standard input can be read only once.
type search struct {
	*program
	opened map[string]*registry.Opened // by path
	known  []view.Known
	code   int  // of stores that could not be read, or changed meanwhile
	named  bool // the user named the store
}

func (s *search) close() error {
	var err error
	for _, o := range s.opened {
		err = errors.Join(err, o.Close())
	}
	return err
}

// find is the session that the arguments mean. A single argument is a session;
// only a path that no session is called is a store.
func (s *search) find(ctx context.Context, args []string) (view.Known, error) {
	if len(args) == 2 {
		s.named = true
		if err := s.read(ctx, args[:1]); err != nil {
			return view.Known{}, err
		}
		return view.Choose(s.known, args[1])
	}
	_, missing := os.Stat(args[0])
	isPath := missing == nil || args[0] == "-" || strings.ContainsRune(args[0], filepath.Separator)
	err := s.read(ctx, nil)
	if err == nil {
		var found view.Known
		if found, err = view.Choose(s.known, args[0]); err == nil {
			return found, nil
		}
	}
	if !isPath || ctx.Err() != nil {
		return view.Known{}, err
	}
	s.known, s.named = nil, true
	if err := s.read(ctx, args); err != nil {
		return view.Known{}, err
	}
	return view.OnlyRoot(s.known, args[0])
}

// read opens the stores that the arguments mean and lists their sessions. A
// store that cannot be read is an error only when it is the only one.
func (s *search) read(ctx context.Context, args []string) error {
	paths, err := s.storePaths(ctx, args)
	if err != nil {
		return err
	}
	for _, path := range paths {
		err := s.readOne(ctx, path)
		if err != nil && (len(paths) == 1 || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			s.report(err)
			s.code = worse(s.code, exitCode(err))
		}
	}
	return nil
}

func (s *search) readOne(ctx context.Context, path string) error {
	if s.opened[path] == nil {
		opened, err := s.open(ctx, path)
		if err != nil {
			return err
		}
		if s.opened == nil {
			s.opened = map[string]*registry.Opened{}
		}
		s.opened[path] = opened
	}
	for tree, err := range s.opened[path].Trees(ctx) {
		if err != nil {
			return err
		}
		s.known = append(s.known, view.KnownOf(path, tree)...)
	}
	return nil
}

// show prints the view of a session.
func (s *search) show(ctx context.Context, found view.Known) error {
	opened := s.opened[found.Store]
	in := view.Input{Store: opened.Facts(), Session: found.ID, Request: s.config.ModelInput}
	result, err := check.Run(ctx, opened, check.Options{
		Rules: rules.All, Session: found.ID,
		EachTree: func(tree *session.Tree, _ []*check.Finding) { in.Tree = tree },
	})
	if err != nil {
		return err
	}
	in.Findings = result.Findings
	if err := opened.Fill(ctx, in.Tree); err != nil {
		return err
	}
	v := view.Build(in)
	opts := render.ViewOptions{Screen: s.out, Full: s.config.Full}
	if !s.config.Quiet {
		opts.Next = s.next(v, found)
	}
	if err := render.View(s.config.Format, v, opts); err != nil {
		return err
	}
	if changed := opened.Changed(); changed != "" {
		s.note("%s: view it again", changed)
		s.code = worse(s.code, int(problem.Busy))
	}
	if result.Incomplete != "" {
		return problem.New(problem.Unreadable, "", "the view is incomplete: %s", result.Incomplete)
	}
	return nil
}

// next are the commands that lead on from a view.
func (s *search) next(v *view.View, found view.Known) []render.Command {
	this := "sessctl view "
	if s.named {
		this += shellWord(found.Store) + " "
	}
	var next []render.Command
	if len(v.Findings) > 0 {
		next = append(next, render.Command{Line: "sessctl explain " + mostFrequent(v.Findings).ID, Why: "what it means and what a repair costs"})
	}
	if found.Store == "-" {
		return next
	}
	if v.Request == nil && len(v.Findings) > 0 {
		next = append(next, render.Command{Line: this + s.short(found.ID) + " --model-input", Why: "what the next run would send"})
	}
	if v.Others > 0 && v.Shown.Parent != "" {
		next = append(next, render.Command{Line: this + s.short(v.Shown.Parent), Why: "the session around this one"})
	}
	return next
}

// short is the beginning of an id, if it means this session only.
func (s *search) short(id string) string {
	if found, err := view.Choose(s.known, rules.Short(id)); err == nil && found.ID == id {
		id = rules.Short(id)
	}
	return shellWord(id)
}
