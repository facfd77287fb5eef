package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/mcpserver"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/registry"
)

func newMCPCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp [STORE...]",
		Short: "Serve what only reads to agents (Model Context Protocol)",
		Long: `Serve the commands that only read to an agent, over standard input and output:
it can list sessions, say why one does not resume, and plan a repair. It cannot
carry one out: the answer holds the command that a person types.

Only the stores that are named are served, and with --usual those at the usual
places. What messages say is left out, unless --texts allows it.

` + exitStatus("the client left", storeCodes...),
		Example: `  claude mcp add sessctl -- sessctl mcp --usual
  sessctl mcp session.db --texts`,
		GroupID: groupOther,
		RunE:    func(cmd *cobra.Command, args []string) error { return runMCP(cmd.Context(), p, args) },
	}
	cmd.ValidArgsFunction = completeStores(0)
	addStoreFlag(cmd)
	cmd.Flags().Bool("usual", false, "also serve the stores at the usual places")
	cmd.Flags().Bool("texts", false, "let the agent read what messages say")
	return cmd
}

func runMCP(ctx context.Context, p *program, args []string) error {
	if len(args) == 0 && !p.config.Usual {
		return problem.New(problem.Usage, "Name the stores, or use --usual for those at the usual places.", "there is no store to serve")
	}
	paths, err := p.storePaths(ctx, args)
	if err == nil && p.config.Usual && len(args) > 0 {
		var usual []string
		usual, err = p.storePaths(ctx, nil)
		paths = append(paths, usual...)
	}
	if err != nil {
		return err
	}
	server := mcpserver.Server{Version: currentBuild().Version, Stores: paths, Texts: p.config.Texts, Missing: isMissing}
	server.Run = func(ctx context.Context, args ...string) (string, string, int) {
		var out, said bytes.Buffer
		code := runCommandLine(ctx, args, strings.NewReader(""), &out, &said, p.getenv)
		return out.String(), said.String(), code
	}
	in := io.NopCloser(p.stdin) // both ends are the caller's to close
	return server.Serve(ctx, in, struct {
		io.Writer
		io.Closer
	}{p.stdout, in})
}

// isMissing reports whether no file and no folder is at a path. Of a server nothing is known until it is asked.
func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) && !registry.OnServer(path)
}
