package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// addStoreFlag declares --store for a command that opens stores.
func addStoreFlag(cmd *cobra.Command) {
	addChoice(cmd, "store", "", registry.KindNames(), "read as this kind of store (default: detected)")
}

// storePaths are the stores that the arguments mean, each once: a folder stands for the
// stores in it, a pattern for those that it matches, and no argument for those at the
// usual places. Files in folders that are other programs' are left out, and told.
func (p *program) storePaths(ctx context.Context, args []string) ([]string, error) {
	paths, empty, err := p.expandArguments(ctx, args)
	if err == nil && len(empty) > 0 {
		err = empty[0].reason
	}
	return paths, err
}

// emptyArgument is an argument that means no store: a folder without one, a pattern that
// matches none.
type emptyArgument struct {
	word   string
	reason error
}

// expandArguments expands the stores that the arguments mean, and the arguments that mean none. An
// error is wrong usage, or that there is no argument and nothing at the usual places.
func (p *program) expandArguments(ctx context.Context, args []string) (paths []string, empty []emptyArgument, err error) {
	if len(args) == 0 {
		paths, err = registry.DefaultStores(ctx, p.home, p.config.Store)
		return paths, nil, err
	}
	var others []string
	defer func() {
		p.noteOthers(slices.DeleteFunc(registry.DistinctPaths(others), func(path string) bool { return slices.Contains(paths, path) }))
	}()
	for _, arg := range args {
		if err := p.sessionAsStore(ctx, arg); err != nil {
			return nil, nil, err
		}
		if whole := registry.WholeStore(ctx, arg); whole != "" {
			p.printNote("%s is a part of %s; this is about all of that", arg, whole)
			arg = whole
		}
		p.noteAside(arg)
		expanded, err := registry.ExpandPath(ctx, arg, p.config.Store)
		others = append(others, expanded.Others...)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case problem.ClassOf(err) == problem.Usage:
			return nil, nil, err
		case err != nil:
			empty = append(empty, emptyArgument{arg, err})
		}
		paths = append(paths, expanded.Stores...)
	}
	return registry.DistinctPaths(paths), empty, nil
}

// noteAside says of a copy that some program put beside a store that it is one.
func (p *program) noteAside(path string) {
	switch of, at := cutBackup(path); {
	case p.compares || !pathExists(path):
	case !at.IsZero() && !strings.HasSuffix(path, receiptEnding):
		p.printNote("%s is the backup of %s that a repair made; this is about the backup, as that store was before", path, of)
	case strings.HasSuffix(path, ".bak"):
		p.printNote("%s was set aside, and no runtime reads it; this is about it, and not about %s", path, strings.TrimSuffix(path, ".bak"))
	}
}

// noteRoot says that an answer is about the root of the session that was named.
func (p *program) noteRoot(asked view.Known) {
	if asked.Top != asked.ID {
		p.printNote("%s is a sub-session of %s; this is about %s", asked.ID, asked.Top, asked.Top)
	}
}

// noteOthers says which files were left out, because nobody named them.
func (p *program) noteOthers(paths []string) {
	if len(paths) > 0 {
		p.printNote("left out as files of other programs: %s", firstFew(paths))
	}
}

// onePath is the store for a command that takes one only: of several, the one that has
// the session of --session. A folder that is a store means itself there, not the stores
// in it.
func (p *program) onePath(ctx context.Context, args []string) (string, error) {
	paths, err := p.storePaths(ctx, args)
	if err != nil {
		return "", err
	}
	if len(paths) > 1 && !slices.Contains(args, paths[0]) {
		if p.config.Session != "" {
			return p.storeOf(ctx, paths, p.config.Session)
		}
		return "", problem.New(problem.Usage, "Name one of them on the command line.", "there are several stores: %s", firstFew(paths))
	}
	return paths[0], nil
}

// firstFew names the first paths of a list, and how many there are besides.
func firstFew(paths []string) string {
	const most = 5
	if more := len(paths) - most; more > 0 {
		return strings.Join(paths[:most], ", ") + " and " + ui.Number(more) + " more"
	}
	return strings.Join(paths, ", ")
}

// openStore opens a store, with a progress counter while it is read.
func (p *program) openStore(ctx context.Context, path string) (*registry.Opened, error) {
	opts := store.Options{Deep: p.config.Deep, Only: p.only, Brief: p.brief, Newest: p.newest, Counted: p.config.Sort == "items", Bodies: p.bodies, Texts: p.texts, Lacks: p.lacks, Keep: p.keep, Since: p.since, Live: p.config.LiveWindow}
	if progress := p.progress; progress != nil {
		opts.Progress = progress.Set
	} else if !p.config.Quiet {
		progress = p.startProgress(path)
		defer progress.Clear()
		opts.Progress = progress.Set
	}
	if registry.OnServer(path) && p.config.Jobs > 1 && opts.Only == "" {
		return p.openParts(ctx, path, opts)
	}
	return registry.Open(ctx, path, p.config.Store, p.stdin, opts)
}

func (p *program) startProgress(path string) *ui.Progress {
	var size int64
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return p.err.StartProgress("reading "+ui.Clean(ui.Tilde(path, p.home)), size)
}

// onlySession is the program for a store of which --session leaves one tree: a server is
// not asked for the others.
func (p *program) onlySession(path string) *program {
	one := *p
	if registry.OnServer(path) {
		one.setWanted(p.config.Session)
	}
	return &one
}

// addByIndexFlag declares --by-index for a command that reads a whole store else.
func addByIndexFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("by-index", false, "with --session: read no other session, if the store can")
}

// byIndex makes --by-index hold for the stores that are opened from here on.
func (p *program) byIndex() error {
	if !p.config.ByIndex {
		return nil
	}
	if p.config.Session == "" || p.config.Deep {
		return problem.New(problem.Usage, "Name one session with --session, and leave --deep out.", "--by-index reads a single session")
	}
	p.setWanted(p.config.Session)
	return nil
}

// noteReading says how a store was read, if --by-index was given.
func (p *program) noteReading(facts *session.Store) {
	switch {
	case !p.config.ByIndex:
	case registry.OnServer(facts.Path):
		p.printNote("of %s, only what belongs to sessions of this name was asked for: damage of others is not looked for", facts.Path)
	case facts.Read == session.ByIndex:
		p.printNote("%s was read by index: damage of other sessions is not looked for", facts.Path)
	default:
		p.printNote("%s was read in full: %s", facts.Path, cmp.Or(facts.Read, "there is no index for this"))
	}
}

// setWanted says which session is wanted, where a name can be an id.
func (p *program) setWanted(name string) {
	if !strings.HasPrefix(name, "-") {
		p.only = name
	}
}

// seeCheck is what to do about a result that is incomplete because of the store.
const seeCheck = "`sessctl check` says what is wrong with the store."

// readStore opens a store for fn and closes it again. A store that changed while it
// was read without a lock is read once more; if it changes again, the error
// says so, and what fn made of it may mix two states. A reading that a server stopped
// begins again twice.
func (p *program) readStore(ctx context.Context, path string, fn func(*registry.Opened) error) error {
	changed := ""
	once := func() (err error) {
		changed, err = p.readOnce(ctx, path, fn)
		return err
	}
	err := p.retryStopped(ctx, once)
	if changed == "" || ctx.Err() != nil {
		return err
	}
	p.printNote("%s; it was read once more", changed)
	if err = once(); changed != "" && err == nil {
		err = problem.New(problem.Busy, "Close the runtime and try again.", "%s once more, so the result may mix two states", changed)
	}
	return err
}

// retryStopped runs what reads stores, and runs it again, twice at most, where a server stopped
// the reading.
func (p *program) retryStopped(ctx context.Context, run func() error) error {
	err := run()
	for again := 0; again < 2 && registry.IsStopped(err) && ctx.Err() == nil; again++ {
		p.printNote("the server stopped the reading, as a replica does for a change of the primary server; it is read once more")
		err = run()
	}
	return err
}

// insistUnseen is insist for what prints while it reads: where a store is on a server, that
// waits in a temporary file until the reading has ended.
func (p *program) insistUnseen(ctx context.Context, paths []string, run func() error) error {
	if !slices.ContainsFunc(paths, registry.OnServer) {
		return run()
	}
	held, err := os.CreateTemp("", "sessctl-")
	if err != nil {
		return problem.New(problem.Unreadable, "Set TMPDIR to a folder that you may write to.", "what is printed cannot be held back: %v", problem.Reason(err))
	}
	defer func() { _ = held.Close(); _ = os.Remove(held.Name()) }()
	back := p.out.Hold(held)
	rewound := func() error {
		_, err := held.Seek(0, io.SeekStart)
		return err
	}
	err = p.retryStopped(ctx, func() error {
		if err := errors.Join(rewound(), held.Truncate(0)); err != nil {
			return err
		}
		return run()
	})
	return errors.Join(err, rewound(), back())
}

func (p *program) readOnce(ctx context.Context, path string, fn func(*registry.Opened) error) (changed string, err error) {
	opened, err := p.openStore(ctx, path)
	if err != nil {
		return "", err
	}
	err = fn(opened)
	return opened.Changed(), errors.Join(err, opened.Close())
}
