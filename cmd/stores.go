package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/store/registry"
)

func newStoresCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stores",
		Short: "Show which kinds of stores are known and where they are",
		Long: `Show the kinds of stores that sessctl reads, where the runtimes keep them, and
what was found there. A database on a server of PostgreSQL, MySQL or MariaDB has
no usual place: name it, as in ` + "`sessctl check postgres://reader@host/database`" + `.

` + exitStatus("shown, whether or not a store was found", exitInterrupted),
		Example: `  sessctl stores
  sessctl stores --format json`,
		GroupID: groupStore,
		Args:    atMost(0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStores(cmd.Context(), p) },
	}
	addFormatFlag(cmd, "text", "json")
	return cmd
}

func runStores(ctx context.Context, p *program) error {
	var kinds []render.KnownKind
	locations := registry.Locations(ctx, p.home)
	for _, k := range registry.Kinds {
		known := render.KnownKind{Name: k.Name, Title: k.Title, Stream: k.Stream, Folder: k.Folder}
		for _, l := range locations {
			if l.Kind.Name == k.Name {
				known.Places = append(known.Places, p.inspectPlace(ctx, l))
			}
		}
		kinds = append(kinds, known)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if p.config.Format == "json" {
		return machine.PrintStores(p.out.Plain(), thisTool(), kinds)
	}
	return render.PrintStores(p.config.Format, p.out, p.home, kinds)
}

// inspectPlace says what is at a place. A store that cannot be read is no error here:
// that is what is to be shown.
func (p *program) inspectPlace(ctx context.Context, l registry.Location) render.KnownPlace {
	place := render.KnownPlace{Path: l.Path, Found: l.Found}
	if !l.Found {
		return place
	}
	err := p.readStore(ctx, l.Path, func(opened *registry.Opened) error {
		place.Store = opened.Facts()
		return nil
	})
	if known, ok := errors.AsType[*problem.Error](err); ok {
		place.Error = known.What
	} else if err != nil {
		place.Error = err.Error()
	}
	return place
}
