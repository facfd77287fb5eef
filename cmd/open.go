package cmd

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

// addStoreFlag declares --store for a command that opens stores.
func addStoreFlag(cmd *cobra.Command) {
	addChoice(cmd, "store", "", registry.Names(), "take the store for one of this kind")
}

// storePaths are the stores that the arguments mean, each once: a folder stands for the
// stores in it, a pattern for those that it matches, and no argument for those at the
// usual places.
func (p *program) storePaths(ctx context.Context, args []string) ([]string, error) {
	if len(args) == 0 {
		return registry.Default(p.home)
	}
	var paths []string
	for _, arg := range args {
		expanded, err := registry.Expand(ctx, arg, p.config.Store)
		if err != nil {
			return nil, err
		}
		paths = append(paths, expanded...)
	}
	return registry.Distinct(paths), nil
}

// onePath is the store for a command that takes one only. A folder that is a store
// means itself there, not the stores in it.
func (p *program) onePath(ctx context.Context, args []string) (string, error) {
	paths, err := p.storePaths(ctx, args)
	if err != nil {
		return "", err
	}
	if len(paths) > 1 && !slices.Contains(args, paths[0]) {
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

// open opens a store, with a progress counter while it is read.
func (p *program) open(ctx context.Context, path string) (*registry.Opened, error) {
	var size int64
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	opts := store.Options{Deep: p.config.Deep}
	if !p.config.Quiet {
		progress := p.err.Progress("reading "+ui.Clean(ui.Tilde(path, p.home)), size)
		defer progress.Clear()
		opts.Progress = progress.Set
	}
	return registry.Open(ctx, path, p.config.Store, p.stdin, opts)
}

// seeCheck is what to do about a result that is incomplete because of the store.
const seeCheck = "`sessctl check` says what is wrong with the store."

// read opens a store for fn and closes it again. A store that changed while it
// was read without a lock is read once more; if it changes again, the error
// says so, and what fn made of it may mix two states.
func (p *program) read(ctx context.Context, path string, fn func(*registry.Opened) error) error {
	changed, err := p.readOnce(ctx, path, fn)
	if changed == "" || ctx.Err() != nil {
		return err
	}
	p.note("%s; it was read once more", changed)
	if changed, err = p.readOnce(ctx, path, fn); changed != "" && err == nil {
		err = problem.New(problem.Busy, "Close the runtime and try again.", "%s once more, so the result may mix two states", changed)
	}
	return err
}

func (p *program) readOnce(ctx context.Context, path string, fn func(*registry.Opened) error) (changed string, err error) {
	opened, err := p.open(ctx, path)
	if err != nil {
		return "", err
	}
	err = fn(opened)
	return opened.Changed(), errors.Join(err, opened.Close())
}
