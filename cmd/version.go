package cmd

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
)

// Set by the linker when a release is built:
// -X github.com/sessctl/sessctl/cmd.buildVersion=1.2.3, and so on.
var buildVersion, buildCommit, buildDate string

// currentBuild is how this program was built.
func currentBuild() render.Build {
	info, _ := debug.ReadBuildInfo() // nil in a program without modules
	return completeBuild(render.Build{Tool: render.Tool{Version: buildVersion}, Commit: buildCommit, Date: buildDate}, info)
}

// completeBuild completes what the linker was told by what the go command recorded: of
// a checkout its version, commit and the time of that; of a module that was
// installed by its version, this version alone.
func completeBuild(b render.Build, info *debug.BuildInfo) render.Build {
	b.Name, b.Platform = "sessctl", runtime.GOOS+"/"+runtime.GOARCH
	if info != nil {
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
	b.Version = strings.TrimPrefix(cmp.Or(b.Version, "(devel)"), "v") // a tag has the v, a release has not
	return b
}

// thisTool is this program in machine formats.
func thisTool() render.Tool { return currentBuild().Tool }

func newVersionCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version, the commit that it was built from with its date, and what it
was built by and for. A program of "go install" with a version knows no commit:
the tag of that version has it.

` + exitStatus("printed"),
		GroupID: groupOther,
		Args:    atMost(0, ""),
		RunE: func(*cobra.Command, []string) error {
			if p.config.Format == "json" {
				return machine.JSON(p.out.Plain(), currentBuild())
			}
			_, err := fmt.Fprintln(p.out, currentBuild())
			return err
		},
	}
	addFormatFlag(cmd, "text", "json")
	return cmd
}
