package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/baseline"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/shell"
)

const (
	baselineFlag      = "baseline"
	writeBaselineFlag = "write-baseline"
)

// addBaselineFlags declares the file of the findings that are known.
func addBaselineFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.String(baselineFlag, "", "fail only on findings that are not in this `FILE`")
	flags.String(writeBaselineFlag, "", "write all findings into this `FILE`, and end with 0")
}

// beginComparison begins the comparison of stores with the baseline, nil without one. A run that
// writes a baseline compares nothing.
func (p *program) beginComparison(stores []string) (*baseline.Comparison, error) {
	if p.config.Baseline == "" || p.config.WriteBaseline != "" {
		return nil, nil
	}
	file, err := baseline.Read(p.config.Baseline)
	if err != nil {
		return nil, err
	}
	return baseline.NewComparison(file, stores), nil
}

// compareBaseline marks the findings of a store that are known; broken says that the store
// could not be read as it should.
func (run *checkRun) compareBaseline(result *check.Result, broken bool) {
	if run.known == nil {
		return
	}
	run.known.CompareStore(result, baseline.Looked{
		Rules: run.rules, Deep: run.config.Deep, Texts: run.withTexts(run.rules), Itself: run.asksItself(),
		Part: run.partOf() != "", Broken: broken,
	})
}

// asksItself reports whether the run asks the rules about a store as a whole.
func (run *checkRun) asksItself() bool {
	return run.config.Session == "" && run.shard.hasStoreFindings() && slices.ContainsFunc(run.rules, func(r *rules.Rule) bool { return r.Scope&rules.PerStore != 0 })
}

// finishBaseline is what is known when all stores were looked at; file is that of a baseline
// to write, nil without one. With an error the baseline was not written, and the
// exit code says so.
func (run *checkRun) finishBaseline(ctx context.Context, args []string, file *atomicfile.File) (end render.Ending, err error) {
	if end.Next = nextCommands(args, run.results); len(end.Next) > 0 && run.config.Format == "text" && run.keyboard() != nil {
		if result, _ := foremostFinding(run.results); result.Store.Path != "-" {
			end.Next = append(end.Next[:min(2, len(end.Next))], render.Command{Line: "sessctl browse " + shell.Path(result.Store.Path), Why: "all of it on the whole screen"})
		}
	}
	switch {
	case file != nil:
		if end.Baseline, err = run.writeBaseline(ctx, file); err == nil {
			end.Next = []render.Command{run.commandWithFlag(writeBaselineFlag, baselineFlag, run.config.WriteBaseline, "fail on new findings only")}
		}
		run.code = max(run.code, exitCode(err))
	case run.known != nil:
		end.Baseline = &render.Baseline{Path: run.config.Baseline, Known: run.known.Known, Gone: run.known.CountGone()}
		if run.onlyGone(end.Baseline) {
			end.Next = append(end.Next, run.commandWithFlag(baselineFlag, writeBaselineFlag, run.config.Baseline, "drop what is gone"))
		}
	}
	end.ExitCode = run.code
	return end, err
}

// onlyGone reports whether to write the baseline anew would drop what is gone and do
// nothing else.
func (run *checkRun) onlyGone(b *render.Baseline) bool {
	isNew := func(r *check.Result) bool { return len(check.FreshFindings(r.Findings)) > 0 }
	return b.Gone > 0 && run.known.CountOpen() == 0 && run.code == exitOK && run.partOf() == "" && !slices.ContainsFunc(run.results, isNew)
}

// newBaseline begins the file of --write-baseline, nil without one. Nothing stands
// under its name before it is committed. Only a baseline is replaced.
func (p *program) newBaseline(ctx context.Context, stores []string) (*atomicfile.File, error) {
	path := p.config.WriteBaseline
	if path == "" {
		return nil, nil
	}
	if part := p.partOf(); part != "" {
		return nil, problem.New(problem.Usage, "Leave one of them out.",
			"a baseline holds what is found in all sessions, and %s leaves some out", part)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() { // another kind, such as a pipe, may block
		if _, err := baseline.Read(path); err != nil {
			return nil, problem.New(problem.Usage, "Name another file, or move this one away.", "%v; it is not replaced", err)
		}
	}
	if p.isTaken(ctx, path, p.takenPaths(stores)) {
		return nil, problem.New(problem.Usage, "Name another file.", "the baseline %s would overwrite a store, the configuration or standard input", path)
	}
	file, err := atomicfile.Create(ctx, path, 0o666) // less the umask
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem.New(problem.Usage, "Name a file in a folder that exists.", "the baseline %s cannot be written: %v", path, problem.Reason(err))
	case err != nil:
		return nil, problem.New(problem.Unreadable, "Name a file in a folder that you may write to.", "the baseline %s cannot be written: %v", path, problem.Reason(err))
	}
	return file, nil
}

// partOf is the setting that limits the run to some of the sessions, "" without one.
func (p *program) partOf() string {
	for _, limit := range []struct{ key, value string }{
		{"session", p.config.Session}, {"since", p.config.Since}, {"shard", p.config.Shard}, {"app", p.config.App}, {"user", p.config.User},
	} {
		switch source := p.config.Sources[limit.key]; {
		case limit.value == "":
		case source == "--"+limit.key:
			return source
		default:
			return limit.key + " in " + source
		}
	}
	return ""
}

// writeBaseline writes everything that was found, if that is everything there is.
func (run *checkRun) writeBaseline(ctx context.Context, file *atomicfile.File) (*render.Baseline, error) {
	path := run.config.WriteBaseline
	if run.code != exitOK {
		return nil, problem.New(problem.Class(run.code), "See above why.",
			"the baseline %s was not written: not everything could be read, and what is missing would be new in the next run", path)
	}
	made := baseline.New(baseline.Tool(thisTool()), run.results)
	err := made.Write(machine.EscapeJSON(file))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		err = file.Commit()
	}
	if err != nil {
		return nil, problem.New(problem.Unreadable, "The findings above are complete.", "the baseline %s could not be written: %v", path, problem.Reason(err))
	}
	return &render.Baseline{Path: path, Known: len(made.Findings), Written: true}, nil
}

// commandWithFlag is the command of this run with one flag in the place of another, or behind
// all others. A value that was given besides goes. What stands behind -- are stores.
func (p *program) commandWithFlag(flag, other, value, why string) render.Command {
	flags, stores := beforeDashes(p.args)
	words, found := []string{"sessctl"}, false
	for i := 0; i < len(flags); i++ {
		word := flags[i]
		switch name, _, joined := strings.Cut(word, "="); {
		case name == "--"+flag:
			word, found = "--"+other+strings.TrimPrefix(word, name), true
		case name == "--"+other && !joined:
			i++ // its value
			continue
		case name == "--"+other:
			continue
		}
		words = append(words, shell.Word(word))
	}
	if !found {
		words = append(words, "--"+other, shell.Word(value))
	}
	return render.Command{Line: strings.Join(append(words, shell.Words(stores)...), " "), Why: why}
}
