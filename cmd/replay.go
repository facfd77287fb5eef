package cmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/ui"
)

func newReplayCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay EVENTS",
		Short: "Show what a recorded run should have stored, and where",
		Long: `Run the events that a runtime emitted through the depth-tracking persistence
model, and show for each how many delegations were open, which agent path it
belongs to, and whether it is stored in the session of the run or belongs to a
sub-session. Nothing is changed.

EVENTS is a recording of docker agent: the lines of ` + "`docker agent run --exec --json`" + `,
or the events of its API (SSE), in a file or, with -, on standard input.

An event belongs to the session whose id it carries; without an id, to the session
that is speaking, by the streams that started and stopped; and where those are not
recorded, by the depth that the agent switches give. --model depth or session-id
takes one of these alone. Where they disagree, the event is marked.

With --against STORE, compare the sessions that the events amount to with those in
a store: what is missing, leaked, altered or misplaced are findings, as of ` + "`check`" + `.
With --output FILE, write these sessions as a canonical stream, which every command
reads.

` + exitStatus("replayed, and nothing found at or above --fail-on", append(storeCodes, exitFindings)...),
		Example: `  sessctl replay run.jsonl
  sessctl replay run.jsonl --against ~/.cagent/session.db
  sessctl replay run.jsonl --model depth --all
  docker agent run --exec --json agent.yaml "hello" | sessctl replay -
  sessctl replay run.jsonl --output run.ndjson && sessctl view run.ndjson -1`,
		GroupID: groupStore,
		Args:    oneRecording,
		RunE:    func(cmd *cobra.Command, args []string) error { return runReplay(cmd.Context(), p, args[0]) },
	}
	addFormatFlag(cmd, "text", "table", "json", "ndjson", "mermaid")
	addChoice(cmd, "model", recording.Auto.String(), recording.Models[:], "decide by this persistence model")
	cmd.Flags().Bool("all", false, "show every event, each piece of an answer too")
	cmd.Flags().String("against", "", "compare with the sessions in this `STORE`")
	cmd.Flags().StringP("output", "o", "", "write the sessions as a canonical stream into this new `FILE`")
	addStoreFlag(cmd)
	addFindingFlags(cmd)
	return cmd
}

func oneRecording(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return problem.New(problem.Usage, "Use - for standard input.", "`sessctl replay` takes one recording of EVENTS; there are %s", countArguments(len(args)))
}

// replayRun is one run of replay.
type replayRun struct {
	*program
	path   string // of the recording
	rules  []*rules.Rule
	events *events.Reader
	heard  bool // there was an event that means something
}

func runReplay(ctx context.Context, p *program, path string) error {
	c := p.config
	run := &replayRun{program: p, path: path}
	var err error
	if run.rules, err = p.selectedRules(); err != nil {
		return err
	}
	switch {
	case c.Against != "" && c.Format == "mermaid":
		return problem.New(problem.Usage, "Leave one of them out.", "a diagram shows events, and --against compares sessions")
	case c.Against == "-" && path == "-":
		return problem.New(problem.Usage, "Write one of them into a file.", "standard input cannot be the recording and the store")
	}
	file, err := p.recording(path)
	if err != nil {
		return err
	}
	run.events = events.NewReader(file)
	run.events.Shallow = c.Against == "" && c.Output == ""
	if c.Against != "" {
		err = run.against(ctx)
	} else {
		err = run.show(ctx)
	}
	return errors.Join(err, file.Close())
}

// recording opens a recorded stream. A database is none.
func (p *program) recording(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(p.stdin), nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem.New(problem.Unreadable, "", "there is no file %s", path)
	case err == nil && info.IsDir():
		return nil, problem.New(problem.Unreadable, "Name the file with the events.", "%s is a folder", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, problem.New(problem.Unreadable, "", "%s cannot be read: %v", path, err)
	}
	return file, nil
}

// show prints the events.
func (run *replayRun) show(ctx context.Context) error {
	c := run.config
	model := run.model()
	writer := render.Replay(c.Format, render.ReplayOptions{
		Screen: run.out, Tool: tool(), Home: run.home, Path: run.path, Model: model, All: c.All, Quiet: c.Quiet, MaxFindings: int(c.MaxFindings),
	})
	var tally replayTally
	recorder := recording.NewRecorder(model, c.Output != "")
	err := run.each(ctx, func(e *recording.Event) error {
		step := recorder.Take(e)
		tally.count(e, &step)
		return writer.Event(e, &step)
	})
	if err != nil {
		return err
	}
	recording := recorder.End()
	found := check.Recording(run.path, recording, run.events.Skipped(), run.events.SkippedCount(), run.rules)
	code := run.failing(found)
	if err := writer.Close(render.ReplayEnd{Findings: found, ExitCode: code, Next: run.next(&tally, found)}); err != nil {
		return err
	}
	if c.Output != "" {
		if err := run.write(recording); err != nil {
			return err
		}
	}
	return withCode(code)
}

// model is the persistence model that decides.
func (p *program) model() recording.Model {
	for m, name := range recording.Models {
		if name == p.config.Model {
			return recording.Model(m)
		}
	}
	return recording.Auto
}

// each hands the events to fn. A file without any is no recording.
func (run *replayRun) each(ctx context.Context, fn func(*recording.Event) error) error {
	var e recording.Event
	for {
		err := run.events.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			run.heard = run.heard || e.Kind != recording.OtherEvent
			err = fn(&e)
		}
		if err != nil {
			return err
		}
	}
	if !run.heard {
		return run.noRecording()
	}
	return nil
}

// noRecording says what the file is instead.
func (run *replayRun) noRecording() error {
	what := run.path
	if what == "-" {
		what = "standard input"
	}
	return problem.New(problem.Unreadable, "A recording holds the lines of `docker agent run --exec --json`; `sessctl check` reads stores and canonical streams.",
		"%s holds no event that a runtime emits", what)
}

// write writes the sessions that the recording amounts to.
func (run *replayRun) write(recording *recording.Result) error {
	sessions := 0
	err := writeNew(run.config.Output, func(to io.Writer) error {
		w, err := canonical.NewWriter(to, canonical.Header{Kind: "docker-agent", ChildrenClosed: true}, canonical.WriteOptions{})
		if err != nil {
			return err
		}
		for _, tree := range recording.Trees {
			for _, s := range tree.Sessions {
				if err := w.Session(s); err != nil {
					return err
				}
				sessions++
			}
		}
		return w.Flush()
	})
	if err == nil {
		run.note("%s written to %s", ui.Count(sessions, "session"), run.config.Output)
	}
	return err
}

// replayTally is what of a replay decides what to type next.
type replayTally struct{ disagree, skipped bool }

func (t *replayTally) count(_ *recording.Event, step *recording.Step) {
	t.disagree = t.disagree || step.Disagree()
	t.skipped = t.skipped || step.Action == replay.Skip
}

// next are the commands that lead on.
func (run *replayRun) next(t *replayTally, found []*check.Finding) []render.Command {
	this := "sessctl replay " + shellWord(run.path)
	if run.path == "-" {
		return nil
	}
	var next []render.Command
	if len(found) > 0 {
		next = append(next, explainCommand(found))
	}
	next = append(next, render.Command{Line: this + " --against STORE", Why: "whether a store holds what it should"})
	if t.disagree && run.model() != recording.ByDepth {
		next = append(next, render.Command{Line: this + " --model depth", Why: "the same run as the depth model stores it"})
	}
	return next
}
