package cmd

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/ui"
)

// Tree is the command line with all commands and flags, for what is made of it
// besides a run: man pages and completions. It has no streams and no
// environment, so that it is the same on every machine.
func Tree() *cobra.Command {
	p := &program{
		stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		getenv: func(string) string { return "" },
	}
	p.setScreens(ui.ColorNever)
	return newRootCommand(p)
}
