package cmd

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/render"
)

// Set by the linker when a release is built:
// -X github.com/sessctl/sessctl/cmd.buildVersion=1.2.3, and so on.
var buildVersion, buildCommit, buildDate string

// build is how this program was built. Without the linker's help it holds what
// the go command recorded.
func build() render.Build {
	b := render.Build{Commit: buildCommit, Date: buildDate, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b.Name, b.Version = "sessctl", buildVersion
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Go = info.GoVersion
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, s.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, s.Value)
			}
		}
	}
	b.Version = cmp.Or(b.Version, "(devel)")
	return b
}

// tool is this program in machine formats.
func tool() render.Tool { return build().Tool }

func newVersionCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version with its commit, its date and how it was built.\n\n" + exitStatus("printed"),
		GroupID: groupOther,
		Args:    atMost(0, ""),
		RunE: func(*cobra.Command, []string) error {
			if p.config.Format == "json" {
				return render.JSON(p.out.Plain(), build())
			}
			_, err := fmt.Fprintln(p.out, build())
			return err
		},
	}
	addFormatFlag(cmd, "text", "json")
	return cmd
}
