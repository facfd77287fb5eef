package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

func newExportCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [STORE]",
		Short: "Write sessions as a canonical stream",
		Long: `Write the sessions of a store as newline-delimited JSON, which every command
reads again. It holds everything that was said; with --redact every text is
replaced by filler of the same length, and a check finds the same in it, but for
text that is no Unicode. Ids and names stay: look at them before you publish a
stream.

` + exitStatus("written", storeCodes...),
		Example: `  sessctl export session.db > sessions.ndjson
  sessctl export --session 1f0c --redact --output case.ndjson
  sessctl export session.db | sessctl check -`,
		GroupID: groupStore,
		Args:    atMost(1, "one STORE"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runExport(cmd.Context(), p, args) },
	}
	addStoreFlag(cmd)
	cmd.Flags().StringP("output", "o", "", "write into this new `FILE` instead of standard output")
	cmd.Flags().Bool("redact", false, "replace every text, for bug reports")
	cmd.Flags().String("session", "", "write only this `SESSION` and its tree")
	addByIndexFlag(cmd)
	cmd.ValidArgsFunction = completeStores(1)
	return cmd
}

func runExport(ctx context.Context, p *program, args []string) error {
	if err := p.byIndex(); err != nil {
		return err
	}
	path, err := p.onePath(ctx, args)
	if err != nil {
		return err
	}
	return p.insistUnseen(ctx, []string{path}, func() error { return p.exportStore(ctx, path) })
}

func (p *program) exportStore(ctx context.Context, path string) error {
	if p.config.Session == "" {
		p.bodies = func(*session.Session) bool { return true }
	}
	opened, err := p.onlySession(path).openStore(ctx, path)
	if err != nil {
		return err
	}
	p.noteReading(opened.Facts())
	e := exporter{program: p, opened: opened}
	e.lost.AddUnread(opened.Facts().Faults, nil)
	switch {
	case p.config.Output != "":
		err = writeNew(p.config.Output, func(w io.Writer) error { return e.writeStream(ctx, machine.EscapeControls(w)) })
	case p.out.Terminal:
		err = e.writeStream(ctx, machine.EscapeJSON(p.out.Plain()))
	default:
		err = e.writeStream(ctx, machine.EscapeControls(p.out.Plain()))
	}
	if err == nil {
		err = e.verifyWhole() // what was written stays: it may be all that can be saved
	}
	return errors.Join(err, opened.Close())
}

// exporter writes one store as a stream.
type exporter struct {
	*program
	opened   *registry.Opened
	replaced int            // lines with bytes that are no UTF-8
	lost     session.Damage // what the stream lacks
}

// writeStream writes the stream, holding the texts of one tree at a time.
func (e *exporter) writeStream(ctx context.Context, to io.Writer) error {
	p, opened := e.program, e.opened
	var st store.Store = opened
	if p.config.Session != "" {
		one, err := findSession(ctx, opened, p.config.Session)
		if err != nil {
			return err
		}
		p.noteRoot(one.found)
		st = one
	}
	w, err := canonical.NewWriter(to, canonical.HeaderOf(opened.Store), canonical.WriteOptions{Redact: p.config.Redact})
	if err != nil {
		return err
	}
	if err := w.WriteFaults(opened.Facts().Faults); err != nil {
		return err
	}
	for tree, err := range st.Trees(ctx) {
		if err != nil {
			return err
		}
		if err := opened.Fill(ctx, tree); err != nil {
			return err
		}
		for _, s := range tree.Sessions {
			if err := errors.Join(w.WriteSession(s), w.WriteUnread(s)); err != nil {
				return err
			}
			e.lost.AddUnread(s.Faults, s.Items)
		}
	}
	e.replaced = w.Replaced()
	return w.Flush()
}

// verifyWhole says what the written stream lacks.
func (e *exporter) verifyWhole() error {
	if e.replaced > 0 {
		e.printNote("%s of the stream had bytes that are not UTF-8: they were replaced with U+FFFD, and raw_base64 holds the original bytes", ui.Count(e.replaced, "line"))
	}
	facts := e.opened.Facts()
	if changed := e.opened.Changed(); changed != "" {
		return problem.New(problem.Busy, "Close the runtime and export again.", "%s, so the stream may mix two states", changed)
	}
	if why := cmp.Or(facts.Incomplete, e.lost.String()); why != "" {
		return problem.New(problem.Unreadable, seeCheck, "the stream lacks a part of %s: %s", facts.Path, why)
	}
	return nil
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, write func(io.Writer) error) error {
	file, err := createNew(path)
	if err != nil {
		return err
	}
	return finishNew(file, write)
}

// createNew makes a file that must not exist yet, for its owner only: it holds
// what people and agents said.
func createNew(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, problem.New(problem.Usage, "Name a file that does not exist yet.", "%s already exists, and sessctl overwrites no file", path)
	case err != nil:
		return nil, problem.New(problem.Usage, "Name a file in a folder that you may write to.", "the output file cannot be created: %v", err)
	}
	return file, nil
}

// finishNew writes and closes a file that createNew made. One that was not finished
// is removed.
func finishNew(file *os.File, write func(io.Writer) error) error {
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
