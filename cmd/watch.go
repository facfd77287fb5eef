package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
	"github.com/sessctl/sessctl/internal/watch"
)

func newWatchCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [STORE...]",
		Short: "Go on checking, and tell what is new and what is gone",
		Long: `Check stores, and check them again whenever they change, until Ctrl-C: a line
for each finding that is new, that is about more than before, or that is gone.

Nothing is changed. What a runtime may still write is no finding as long as it
has the store open. Where a store has an index, only the sessions that changed
are read, and all of them every five minutes (--every).

The system tells when files change; databases on a server, and files of which it
does not tell, are looked at every second (--poll). Stores that come later to the
folders, patterns or usual places are found within a minute.

` + exitStatus("never: it goes on until it is interrupted", int(problem.Unreadable), exitInterrupted),
		Example: `  sessctl watch
  sessctl watch session.db --metrics :9464
  sessctl watch ~/.claude --format ndjson | jq 'select(.type == "found")'`,
		GroupID: groupStore,
		RunE:    func(cmd *cobra.Command, args []string) error { return runWatch(cmd.Context(), p, args) },
	}
	cmd.ValidArgsFunction = completeStores(0)
	flags := cmd.Flags()
	addFormatFlag(cmd, "text", "ndjson")
	addStoreFlag(cmd)
	flags.StringSlice("select", nil, "run only these `RULES`: ids, beginnings (SC7) or names")
	flags.StringSlice("ignore", nil, "leave these `RULES` out")
	flags.Uint("max-findings", 100, "list `N` findings of a store at the start, 0 for all")
	addChoice(cmd, "severity", "", severities, "least severity listed (warning)")
	flags.String(baselineFlag, "", "tell only of findings that are not in this `FILE`")
	addProfileFlags(cmd)
	flags.Duration("live-window", liveWindow, "take a server's sessions newer than `AGE` for in use")
	flags.Duration("every", 5*time.Minute, "check all of a store that changes every `TIME`")
	flags.Duration("poll", 0, "look at all stores every `TIME`, whatever the system tells")
	flags.String("metrics", "", "serve metrics for Prometheus at this `ADDRESS`")
	return cmd
}

func runWatch(ctx context.Context, p *program, args []string) error {
	c := p.config
	if c.Every <= 0 || c.Poll < 0 {
		return problem.New(problem.Usage, "Write a number with its unit: 30s, 5m.", "--every and --poll take a time that is longer than none")
	}
	if slices.Contains(args, "-") {
		return problem.New(problem.Usage, "Name the file. `sessctl check -` checks a stream once.", "standard input cannot be watched")
	}
	paths, err := p.storePaths(ctx, args)
	if err != nil {
		return err
	}
	run, err := newCheckRun(p, nil, paths, len(paths) > 1)
	if err != nil {
		return err
	}
	opts := watch.Options{
		Stores: paths, Every: c.Every, Poll: c.Poll, Always: c.Poll > 0, Now: time.Now, Files: watchedFiles, //nolint:forbidigo // when what was found
		Check: func(ctx context.Context, path string, of watch.Part) (*watch.Look, error) {
			return run.lookAt(ctx, paths, path, of)
		},
		Sign:   registry.OpenSign,
		Glance: func(ctx context.Context, path string) (watch.Glance, error) { return glanceAt(ctx, path, c.Store) },
	}
	named := slices.Equal(paths, args)
	if !named {
		opts.Find = func(ctx context.Context) []string {
			found, _, _ := run.silentProgram().expandArguments(registry.InOneRun(ctx), args)
			return found
		}
	}
	if opts.Poll == 0 {
		opts.Poll = time.Second
	}
	if c.Metrics != "" {
		opts.Counts = &watch.Metrics{}
		at, stop, err := opts.Counts.Listen(c.Metrics)
		if err != nil {
			return problem.New(problem.Usage, "Name a port that is free: --metrics :9464.", "metrics cannot be served at %s: %v", c.Metrics, problem.Reason(err))
		}
		defer stop()
		p.printNote("metrics are at http://%v/metrics", at)
	}
	if opts.Emit, err = p.watchPrinter(paths, len(paths) > 1 || !named); err != nil {
		return err
	}
	if err = watch.Run(ctx, opts); errors.Is(err, watch.ErrNothing) {
		return withCode(exitCode(err))
	}
	return err
}

// watchPrinter prints what a watch tells; with several stores, a line says which one it is about.
func (p *program) watchPrinter(paths []string, several bool) (func(watch.Event) error, error) {
	opts := render.WatchOptions{
		Screen: p.out, Tool: thisTool(), Home: p.home, Quiet: p.config.Quiet, Several: several, Least: p.leastSeverity(), Most: int(p.config.MaxFindings),
		Unread: func(path string, err error) render.Unread {
			u := unreadStore(path, err)
			u.Message, u.Next = p.hideSecrets(u.Message), p.hideSecrets(u.Next)
			return u
		},
	}
	if p.config.Format == "ndjson" {
		return machine.WatchLines(opts, paths)
	}
	return render.WatchText(opts), nil
}

// watchedFiles are the files of a store with those that are written beside it, also where a link
// leads to them; none of a database on a server.
func watchedFiles(path string) []string {
	if registry.OnServer(path) {
		return nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		full = path
	}
	files := registry.WithLogs(full)
	if real, err := atomicfile.ResolveLinks(full); err == nil && real != full {
		files = append(files, registry.WithLogs(real)...)
	}
	return files
}

func glanceAt(ctx context.Context, path, kind string) (watch.Glance, error) {
	seen, err := registry.GlanceAt(registry.InOneRun(ctx), path, kind)
	return watch.Glance(seen), err
}

// lookAt checks a store, or a part of it, as `sessctl check` does.
func (run *checkRun) lookAt(ctx context.Context, paths []string, path string, of watch.Part) (*watch.Look, error) {
	start := time.Now() //nolint:forbidigo // how long it takes
	one, settings := *run, *run.config
	one.program, one.asked = run.silentProgram(), &of
	one.config, settings.Session = &settings, of.Only
	if !slices.Contains(paths, path) { // it came later
		paths = append(slices.Clone(paths), path)
	}
	if one.setWanted(of.Only); of.Only == "" {
		one.keep = of.Keep
	}
	var err error
	if one.known, err = one.beginComparison(paths); err != nil {
		return nil, err
	}
	var look *watch.Look
	ctx = registry.InOneRun(ctx) // who has the store open is looked for anew
	err = one.readStore(ctx, path, func(opened *registry.Opened) error {
		seen := &lookedAt{}
		one.trees = []render.TreeWriter{seen}
		result, err := one.checkOpened(ctx, opened)
		if err != nil {
			return err
		}
		one.compareBaseline(result, false)
		facts := *result.Store
		facts.Recovery = nil // which holds the store
		alone := of.Only != ""
		look = &watch.Look{Store: &facts, Slow: alone && facts.Read != session.ByIndex, Own: !alone && (of.All || !registry.OnServer(path))}
		look.Whole = !alone && (of.All || pickerOf(opened) == nil)
		for _, f := range result.Findings {
			if f.Root == nil {
				look.Itself = append(look.Itself, f)
			}
		}
		look.Itself, look.Trees = check.FreshFindings(look.Itself), seen.trees
		for i := range look.Trees {
			look.Trees[i].Found = check.FreshFindings(look.Trees[i].Found)
		}
		return nil
	})
	if errors.Is(err, view.ErrNoSession) {
		return nil, watch.ErrNoSession
	}
	if err != nil {
		return nil, err
	}
	look.Took = time.Since(start) //nolint:forbidigo // see above
	return look, nil
}

type lookedAt struct{ trees []watch.Tree }

// Tree implements render.TreeWriter.
func (l *lookedAt) Tree(_ *session.Store, tree *session.Tree, found []*check.Finding) {
	for _, part := range tree.Conversations() {
		seen := watch.Tree{Root: strings.Clone(part.Root().ID)}
		var said session.Meaning
		for i, s := range part.Sessions {
			said.AddDigest(session.DigestOf(s.ID + "\x00" + s.Title))
			for n := range s.Items {
				said.AddDigest(session.DigestOf(s.Items[n].Key))
				said.AddDigest(s.Items[n].Meaning)
			}
			if seen.InUse = seen.InUse || s.Writer == session.WriterLive; i > 0 {
				seen.Subs = append(seen.Subs, strings.Clone(s.ID))
			}
		}
		for _, f := range found {
			if part.Session(f.Session) != nil {
				seen.Found = append(seen.Found, f)
			}
		}
		seen.Said = said.Digest()
		seen.Outlook = check.OutlookOf(seen.Root, seen.Found)
		l.trees = append(l.trees, seen)
	}
}
