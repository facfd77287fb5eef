package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/checks"
	"github.com/sessctl/sessctl/internal/render/replays"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
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
recorded, by the depth that the agent switches give. --assign-by depth decides by the
switches alone, --assign-by session-id without them. Where the two disagree, the event
is marked.

With --against STORE, compare the sessions that the events amount to with those in
a store: what is missing, leaked, altered or misplaced are findings, as of ` + "`check`" + `.
With --output FILE, write these sessions as a canonical stream, which every command
reads. --assign-by and --all are about the list of events only.

` + exitStatus("replayed, and nothing found at or above --fail-on", append(storeCodes, exitFindings)...),
		Example: `  sessctl replay run.jsonl
  sessctl replay run.jsonl --against ~/.cagent/session.db
  sessctl replay run.jsonl --assign-by depth --all
  docker agent run --exec --json agent.yaml "hello" | sessctl replay -
  sessctl replay run.jsonl --output run.ndjson
  sessctl view run.ndjson -1`,
		GroupID: groupStore,
		Args:    oneRecording,
		RunE:    func(cmd *cobra.Command, args []string) error { return runReplay(cmd.Context(), p, args[0]) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	addFormatFlag(cmd, "text", "table", "json", "ndjson", "mermaid")
	addChoice(cmd, "assign-by", recording.Auto.String(), recording.Models[:], "assign events to sessions by")
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
	live   bool     // events may come later
	output *os.File // of --output, nil without
}

func runReplay(ctx context.Context, p *program, path string) error {
	run := &replayRun{program: p, path: path}
	var err error
	if err = run.checkFlags(); err != nil {
		return err
	}
	if run.rules, err = p.selectedRules(); err != nil {
		return err
	}
	file, err := run.openEvents(ctx)
	if err != nil {
		return err
	}
	run.events = events.NewReader(&interruptible{ctx, file})
	if p.config.Output != "" { // before anything is read: what comes through a pipe comes once
		if run.output, err = createNew(p.config.Output); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	if p.config.Against != "" {
		err = run.compareAgainst(ctx)
	} else {
		run.events.Shallow = run.output == nil
		if run.events.Shallow && run.getenv("GOGC") == "" {
			// The list of events keeps nothing of them: with a heap of a few MB the
			// percentage of main would run the collector without a pause.
			defer debug.SetGCPercent(debug.SetGCPercent(400))
		}
		err = run.printEvents(ctx)
	}
	if run.output != nil { // it was not written
		err = errors.Join(err, run.output.Close(), os.Remove(p.config.Output))
	}
	return errors.Join(err, file.Close())
}

// checkFlags refuses what does not fit together. What file and environment say is
// for whatever it fits.
func (run *replayRun) checkFlags() error {
	c := run.config
	if c.Against == "" {
		if c.Sources["against"] == "--against" {
			return problem.New(problem.Usage, "Name a store, or leave it out.", "--against names no store")
		}
		return nil
	}
	const leaveOut = "Leave one of them out."
	for _, flag := range []string{"assign-by", "all"} {
		if c.Sources[flag] == "--"+flag {
			return problem.New(problem.Usage, leaveOut, "--%s is about the list of events, and --against compares sessions", flag)
		}
	}
	switch {
	case c.Format == "table": // of events
		c.Format = "text"
	case c.Format == "mermaid" && c.Sources["format"] != "--format":
		c.Format = "text"
	case c.Format == "mermaid":
		return problem.New(problem.Usage, leaveOut, "a diagram shows events, and --against compares sessions")
	case c.Against == "-" && run.path == "-":
		return problem.New(problem.Usage, "Write one of them into a file.", "standard input cannot be the recording and the store")
	}
	return nil
}

// openEvents opens the recorded stream.
func (run *replayRun) openEvents(ctx context.Context) (io.ReadCloser, error) {
	if run.path == "-" {
		run.live = true
		return io.NopCloser(run.stdin), nil
	}
	info, err := os.Stat(run.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem.New(problem.Unreadable, "", "there is no file %s", run.path)
	case err == nil && info.IsDir():
		return nil, problem.New(problem.Unreadable, "Name the file with the events.", "%s is a folder", run.path)
	}
	file, err := atomicfile.OpenStream(ctx, run.path, os.O_RDONLY)
	if err != nil && ctx.Err() == nil {
		err = problem.New(problem.Unreadable, "", "%s cannot be read: %v", run.path, problem.Reason(err))
	}
	if err != nil {
		return nil, err
	}
	run.live = info != nil && !info.Mode().IsRegular()
	return file, nil
}

// printEvents prints the events.
func (run *replayRun) printEvents(ctx context.Context) error {
	c := run.config
	model := run.decidingModel()
	writer := replays.NewReplayWriter(c.Format, render.ReplayOptions{
		Screen: run.out, Tool: thisTool(), Home: run.home, Path: run.path, Model: model,
		All: c.All, Quiet: c.Quiet, Live: run.live, MaxFindings: int(c.MaxFindings),
	})
	disagree := false
	recorder := recording.NewRecorder(model, run.output != nil && model == recording.Auto, events.Runtime.NoOutput)
	keeper := recorder
	if run.output != nil && model != recording.Auto { // sessions take all the evidence
		keeper = recording.NewRecorder(recording.Auto, true, events.Runtime.NoOutput)
	}
	var step recording.Step
	err := run.eachEvent(ctx, func(e *recording.Event) error {
		step = recorder.Take(e)
		if keeper != recorder {
			keeper.Take(e)
		}
		disagree = disagree || step.Disagree()
		return writer.Event(e, &step)
	})
	if err != nil {
		return err
	}
	read := run.endRecording(keeper)
	found := check.RunRecording(run.recordingFacts(), read, run.rules)
	code := run.findingsCode(found)
	if err := writer.Close(render.ReplayEnd{Findings: found, ExitCode: code, Next: run.nextAfterReplay(disagree, found)}); err != nil {
		return err
	}
	if err := run.writeSessions(read); err != nil {
		return err
	}
	if c.Format == "mermaid" && len(found) > 0 {
		run.printNote("%s about the recording, which a diagram does not show: --format text does", ui.Count(len(found), "finding"))
	}
	return cmp.Or(ctx.Err(), withCode(code))
}

// decidingModel is the persistence model that decides.
func (p *program) decidingModel() recording.Model {
	return recording.Model(max(0, slices.Index(recording.Models[:], p.config.AssignBy)))
}

// eachEvent hands the events to fn. An interrupt ends a recording that is still being
// made: what was read counts. A file without any event is no recording.
func (run *replayRun) eachEvent(ctx context.Context, fn func(*recording.Event) error) error {
	heard := false
	for e, err := range run.events.All() {
		if ctx.Err() != nil && run.live {
			break
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		heard = heard || e.Kind != recording.OtherEvent
		if err := fn(e); err != nil {
			return err
		}
	}
	if heard || ctx.Err() != nil {
		return nil
	}
	return problem.New(problem.Unreadable, "A recording holds the lines of `docker agent run --exec --json`; `sessctl check` reads stores and canonical streams.",
		"%s holds no event that a runtime emits", run.recordingName())
}

// endRecording is what the recording amounts to.
func (run *replayRun) endRecording(recorder *recording.Recorder) *recording.Result {
	read := recorder.End()
	read.Skipped, read.Unread = run.events.Skipped(), run.events.SkippedCount()
	return read
}

// recordingFacts is the recording as a place of findings.
func (run *replayRun) recordingFacts() *session.Store {
	return &session.Store{Path: run.path, Kind: "recording"}
}

// recordingName is what people call the recording.
func (run *replayRun) recordingName() string {
	if run.path == "-" {
		return "standard input"
	}
	return run.path
}

// writeSessions writes the sessions that the recording amounts to, where that was asked for.
func (run *replayRun) writeSessions(read *recording.Result) error {
	if run.output == nil {
		return nil
	}
	sessions := 0
	err := finishNew(run.output, func(to io.Writer) error {
		w, err := canonical.NewWriter(to, canonical.Header{Kind: events.Kind, ChildrenClosed: true}, canonical.WriteOptions{})
		if err != nil {
			return err
		}
		for _, tree := range read.Trees {
			for _, s := range tree.Sessions {
				if err := w.WriteSession(s); err != nil {
					return err
				}
				sessions++
			}
		}
		return w.Flush()
	})
	run.output = nil
	if err == nil {
		run.printNote("%s written to %s", ui.Count(sessions, "session"), run.config.Output)
	}
	return err
}

// nextAfterReplay are the commands that lead on.
func (run *replayRun) nextAfterReplay(disagree bool, found []*check.Finding) []render.Command {
	if run.live {
		return nil
	}
	this := "sessctl replay " + shell.Path(run.path)
	var next []render.Command
	if len(found) > 0 {
		next = append(next, explainCommand(found))
	}
	next = append(next, render.Command{Line: this + " --against STORE", Why: "whether a store holds what it should"})
	if disagree && run.decidingModel() != recording.ByDepth {
		next = append(next, render.Command{Line: this + " --assign-by depth", Why: "the same run as the depth model stores it"})
	}
	return next
}

// compareAgainst compares the sessions of the recording with those in a store, and
// prints what differs as a check prints its findings.
func (run *replayRun) compareAgainst(ctx context.Context) error {
	c := run.config
	path, err := run.onePath(ctx, []string{c.Against})
	if err != nil {
		return err
	}
	recorder := recording.NewRecorder(recording.Auto, true, events.Runtime.NoOutput)
	err = run.eachEvent(ctx, func(e *recording.Event) error {
		recorder.Take(e)
		return nil
	})
	if err != nil {
		return err
	}
	read := run.endRecording(recorder)
	if err := run.writeSessions(read); err != nil {
		return err
	}
	trees, err := run.comparableTrees(read)
	if err != nil {
		return err
	}
	checked := &checkRun{program: run.program, rules: run.rules, recorded: trees}
	checked.writer = checks.FindFormat(c.Format).New(render.CheckOptions{
		Screen: run.out, Tool: thisTool(), Home: run.home, Quiet: c.Quiet, MaxFindings: int(c.MaxFindings), Full: true, Limited: true,
	})
	if found := check.RunRecording(run.recordingFacts(), read, run.rules); len(found) > 0 {
		itself := &check.Result{Store: run.recordingFacts(), Findings: found, Recording: true}
		checked.countResult(itself)
		if err := checked.writer.Store(itself, 0); err != nil {
			return err
		}
	}
	if err := checked.checkStore(ctx, path); err != nil {
		return err
	}
	if len(checked.results) == 0 {
		return withCode(checked.code)
	}
	next := nextCommands([]string{path}, checked.results)
	if len(next) == 0 {
		next = append(next, render.Command{Line: "sessctl check " + shell.Path(path), Why: "what is wrong with its sessions by themselves"})
	}
	if c.Output == "" && slices.ContainsFunc(trees, hasUnfinished) && run.path != "-" {
		next = append(next, render.Command{Line: "sessctl replay " + shell.Path(run.path) + " --output FILE", Why: "keep what only the events hold"})
	}
	if err := checked.writer.Close(render.Ending{ExitCode: checked.code, Next: next}); err != nil {
		return err
	}
	return withCode(checked.code)
}

// comparableTrees are the trees whose sessions are known by their ids.
func (run *replayRun) comparableTrees(read *recording.Result) ([]*session.Tree, error) {
	trees := slices.DeleteFunc(slices.Clone(read.Trees), func(tree *session.Tree) bool { return recording.IsUnnamed(tree.Root()) })
	switch {
	case len(trees) == 0:
		return nil, problem.New(problem.Unreadable, "A recording that holds the beginning of a run names it.",
			"%s does not name the session of its run, so there is nothing to compare", run.recordingName())
	case len(trees) < len(read.Trees):
		run.printNote("a part of the recording does not name its session, and is not compared")
	}
	return trees, nil
}

// hasUnfinished reports whether a tree has what no runtime stores: a sub-session that
// never completed.
func hasUnfinished(tree *session.Tree) bool {
	return slices.ContainsFunc(tree.Sessions[1:], func(s *session.Session) bool {
		return len(s.Items) > 0 && s.Items[0].Flags.Has(session.Unfinished)
	})
}
