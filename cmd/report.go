package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

// message is what stderr holds where the output is JSON.
type message struct {
	Type     string `json:"type"`               // `error` or `note`
	Message  string `json:"message"`            // for people
	Next     string `json:"next,omitzero"`      // what to do now; left out when there is nothing to do
	ExitCode int    `json:"exit_code,omitzero"` // of an error: docs/exit-codes.md
}

// reportError prints an error that was not shown yet: a sentence and what to do, or
// one JSON object where the output is JSON.
func (p *program) reportError(err error) {
	if _, done := errors.AsType[shown](err); done || err == nil {
		return
	}
	p.printMessage("sessctl: ", messageOf(err))
}

func messageOf(err error) message {
	m := message{Type: "error", Message: err.Error(), ExitCode: exitCode(err)}
	if known, ok := errors.AsType[*problem.Error](err); ok {
		m.Message, m.Next = known.What, ui.AsSentence(known.Next)
	}
	return m
}

// hiddenWord stands for a password, as in net/url.
const hiddenWord = "xxxxx"

// printNote tells the user something that is neither a finding nor an error.
func (p *program) printNote(format string, args ...any) {
	if !p.config.Quiet {
		p.printMessage("note: ", message{Type: "note", Message: fmt.Sprintf(format, args...)})
	}
}

// withoutSecrets is a text in which a word stands for each password.
func (p *program) withoutSecrets(text string) string {
	for _, secret := range p.secrets {
		text = strings.NewReplacer(shell.Word(secret), hiddenWord, secret, hiddenWord).Replace(text)
	}
	return text
}

func (p *program) printMessage(prefix string, m message) {
	m.Message, m.Next = p.withoutSecrets(m.Message), p.withoutSecrets(m.Next)
	if p.printsJSON() {
		line, err := json.Marshal(m, jsontext.AllowInvalidUTF8(true))
		if err == nil {
			_, _ = fmt.Fprintf(p.err, "%s\n", p.escapeCommands(string(line), `\u005b`))
		}
		return
	}
	width := p.err.TextWidth()
	text := ui.Hang(prefix, "  ", ui.EndSentence(ui.Clean(m.Message)), width)
	if m.Next != "" {
		text += ui.Hang("  ", "  ", ui.Clean(m.Next), width)
	}
	_, _ = fmt.Fprint(p.err, p.escapeCommands(text, `\x5b`))
}

// escapeCommands takes from text what GitHub Actions would carry out, where it may read it:
// a line that begins with "::", and "##[" anywhere (actions/runner, ActionCommand.cs:
// TryParseV2 trims a line first, TryParse searches it). bracket stands for the bracket.
func (p *program) escapeCommands(text, bracket string) string {
	if p.outputFormat() != "github" && p.getenv("GITHUB_ACTIONS") == "" {
		return text
	}
	text = strings.ReplaceAll(text, "##[", "##"+bracket)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if command := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(command, "::") {
			lines[i] = line[:len(line)-len(command)] + `\x3a` + command[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// printsJSON reports whether the output is JSON.
func (p *program) printsJSON() bool {
	return slices.Contains([]string{"json", "ndjson"}, p.outputFormat())
}

// outputFormat is the format of the output. Before the configuration was read, the arguments
// and the environment have to tell.
func (p *program) outputFormat() string {
	if p.config != nil {
		return p.config.Format
	}
	format := p.getenv(config.EnvName("format"))
	for i, arg := range p.args {
		if value, ok := strings.CutPrefix(arg, "--format="); ok {
			format = value
		} else if arg == "--format" && i+1 < len(p.args) {
			format = p.args[i+1]
		}
	}
	return format
}

// takenPaths are the files that an output of the run must not replace: its stores with what
// SQLite keeps beside them, the configuration, and others.
func (p *program) takenPaths(stores []string, others ...string) []string {
	paths := append(others, p.config.File)
	for _, path := range stores {
		paths = append(paths, registry.WithLogs(path)...)
		if real, err := atomicfile.ResolveLinks(path); err == nil { // SQLite keeps them beside what a link leads to
			paths = append(paths, registry.WithLogs(real)...)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" || path == "-" })
}

// isTaken reports whether a path leads to a file that must not be replaced: one of
// those that are taken, the one that standard input comes from, or some store.
func (p *program) isTaken(ctx context.Context, path string, taken []string) bool {
	standing, err := os.Stat(path)
	if err == nil && !standing.Mode().IsRegular() {
		return false // nothing is replaced: it is written to
	}
	input := fileOf(p.stdin)
	return err == nil && input != nil && os.SameFile(standing, input) ||
		slices.ContainsFunc(taken, func(other string) bool { return atomicfile.SameFile(path, other) }) ||
		registry.OfAStore(ctx, path)
}

// streamAt is the stream of the program that goes into the file at path, nil where
// none does: `--report markdown=/dev/stdout >> log` is to go on in the log, where a new
// file under its name would take what it holds.
func (p *program) streamAt(path string) io.Writer {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	for _, stream := range []io.Writer{p.stdout, p.stderr} {
		if file := fileOf(stream); file != nil && os.SameFile(file, info) {
			return stream
		}
	}
	return nil
}

// fileOf is the file that a stream of the program comes from or goes to, nil where
// there is none.
func fileOf(stream any) fs.FileInfo {
	if in, ok := stream.(*interruptible); ok {
		stream = in.r
	}
	file, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	return info
}

// stepSummary appends one report to the file that GitHub makes the summary of a step
// from. What goes wrong there is told and fails nothing: the findings are printed.
type stepSummary struct {
	*program
	path    string
	written bool
}

// newStepSummary is the one of the step that the program runs in, nil elsewhere.
func (p *program) newStepSummary() io.Writer {
	path := p.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	return &stepSummary{program: p, path: path}
}

// Write implements io.Writer. A second report of the same run is the same.
func (s *stepSummary) Write(report []byte) (int, error) {
	if s.written {
		return len(report), nil
	}
	s.written = true
	file, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = file.Write(report)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		s.printNote("the summary of the step was not written, the findings are complete: %v", err)
	}
	return len(report), nil
}
