package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// The exit codes that are no class of problem. docs/exit-codes.md lists all.
const (
	exitOK          = 0
	exitFindings    = 1
	exitInterrupted = 130
	exitClosedPipe  = 141 // as a shell says it of a program that SIGPIPE ended
)

// meanings are what the help of the commands says of each code.
var meanings = []struct {
	code    int
	meaning string
}{
	{exitFindings, "findings at or above --fail-on"},
	{int(problem.Usage), "wrong usage or configuration, or an unknown session or rule"},
	{int(problem.Unreadable), "no store found, not readable, or the result is incomplete"},
	{int(problem.RolledBack), "the repair was rolled back"},
	{int(problem.Busy), "the store is in use, or changed meanwhile"},
	{exitInterrupted, "interrupted"},
}

// exitTitle begins that section.
const exitTitle = "EXIT STATUS\n"

// exitStatus is the section of a command's help; success says what 0 means,
// codes are the others that it can end with besides 2.
func exitStatus(success string, codes ...int) string {
	text := exitTitle + "    0  " + success
	for _, m := range meanings {
		if m.code == int(problem.Usage) || slices.Contains(codes, m.code) {
			text += fmt.Sprintf("\n  %3d  %s", m.code, m.meaning)
		}
	}
	return text
}

// storeCodes are the codes of every command that opens a store.
var storeCodes = []int{int(problem.Unreadable), int(problem.Busy), exitInterrupted}

// changing are the codes of the commands that change a store.
var changing = append([]int{int(problem.RolledBack)}, storeCodes...)

// errInterrupted ends a run that a signal stopped.
var errInterrupted = errors.New("interrupted; nothing was changed")

// shown is the error of a run that has said everything: only its exit code is
// left.
type shown int

func (s shown) Error() string { return fmt.Sprintf("exit code %d", int(s)) }

// findingsCode is the exit code for findings. Those that are known fail nothing, and
// all are where the run writes them into a baseline.
func (p *program) findingsCode(found []*check.Finding) int {
	least, counts := rules.ParseSeverity(p.config.FailOn)
	fails := func(f *check.Finding) bool { return !f.Known && f.Severity >= least }
	if counts && p.config.WriteBaseline == "" && slices.ContainsFunc(found, fails) {
		return exitFindings
	}
	return exitOK
}

// exitCode is the one place where errors become exit codes. An error without a
// class means that the work was not done to its end.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if s, ok := errors.AsType[shown](err); ok {
		return int(s)
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	if class := problem.ClassOf(err); class != 0 {
		return int(class)
	}
	return int(problem.Unreadable)
}

// withCode is the error for an exit code whose reasons were shown.
func withCode(code int) error {
	if code == exitOK {
		return nil
	}
	return shown(code)
}

// withFinalCode is withCode for a run that has done everything: a signal that came meanwhile
// does not change how it ends.
func withFinalCode(code int) error {
	if code == exitOK {
		return nil
	}
	return errors.Join(shown(code), errChanged)
}

// reportExitCode prints an error that nobody has shown yet and returns the exit code.
// What goes wrong before the configuration is read is wrong usage.
func (p *program) reportExitCode(ran *cobra.Command, err error) int {
	if err != nil && p.config == nil && problem.ClassOf(err) == 0 && !errors.Is(err, errInterrupted) {
		err = wrongUsage(ran, err)
	}
	if errors.Is(err, syscall.EPIPE) && !errors.Is(err, errChanged) {
		return exitClosedPipe // and nobody is there to read why
	}
	p.reportError(err)
	return exitCode(err)
}

// wrongUsage is the problem with a command line, with what may have been meant.
func wrongUsage(ran *cobra.Command, err error) error {
	near, see := "", "See `"+ran.CommandPath()+" --help`."
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		name := wrong.GetFlag().Name
		near = problem.DidYouMean(wrong.GetValue(), config.Choices(wrong.GetFlag()))
		if _, is := errors.AsType[*strconv.NumError](err); is { // else the flag says itself what it takes
			err = fmt.Errorf("invalid argument %q for %q flag: use %s", wrong.GetValue(), "--"+name, config.ValueForm(name))
		}
	}
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		var flags []string
		ran.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		near = problem.DidYouMean("--"+unknown.GetSpecifiedName(), flags)
		newest := unknown.GetSpecifiedShortnames()
		if _, nan := strconv.Atoi(newest); nan == nil && ran.Flags().Lookup("session") != nil {
			near = "To name a session, use `--session -" + newest + "`."
		}
	}
	return problem.New(problem.Usage, ui.JoinSentences(near, see), "%v", err)
}
