package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/ui"
)

// message is what stderr holds where the output is JSON.
type message struct {
	Type     string `json:"type"` // error or note
	Message  string `json:"message"`
	Next     string `json:"next,omitzero"`
	ExitCode int    `json:"exit_code,omitzero"`
}

// report prints an error that was not shown yet: a sentence and what to do, or
// one JSON object where the output is JSON.
func (p *program) report(err error) {
	if _, done := errors.AsType[shown](err); done || err == nil {
		return
	}
	p.say("sessctl: ", messageOf(err))
}

func messageOf(err error) message {
	m := message{Type: "error", Message: err.Error(), ExitCode: exitCode(err)}
	if known, ok := errors.AsType[*problem.Error](err); ok {
		m.Message, m.Next = known.What, ui.Sentence(known.Next)
	}
	return m
}

// note tells the user something that is neither a finding nor an error.
func (p *program) note(format string, args ...any) {
	if !p.config.Quiet {
		p.say("note: ", message{Type: "note", Message: fmt.Sprintf(format, args...)})
	}
}

func (p *program) say(prefix string, m message) {
	if p.printsJSON() {
		line, err := json.Marshal(m, jsontext.AllowInvalidUTF8(true))
		if err == nil {
			_, _ = fmt.Fprintf(p.err, "%s\n", p.harmless(string(line), `\u005b`))
		}
		return
	}
	width := p.err.TextWidth()
	text := ui.Hang(prefix, "  ", ui.Ended(ui.Clean(m.Message)), width)
	if m.Next != "" {
		text += ui.Hang("  ", "  ", ui.Clean(m.Next), width)
	}
	_, _ = fmt.Fprint(p.err, p.harmless(text, `\x5b`))
}

// harmless takes from text what GitHub Actions would carry out, where it may read it:
// a line that begins with "::", and "##[" anywhere (actions/runner, ActionCommand.cs:
// TryParseV2 trims a line first, TryParse searches it). bracket stands for the bracket.
func (p *program) harmless(text, bracket string) string {
	if p.format() != "github" && p.getenv("GITHUB_ACTIONS") == "" {
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
	return slices.Contains([]string{"json", "ndjson"}, p.format())
}

// format is the format of the output. Before the configuration was read, the arguments
// and the environment have to tell.
func (p *program) format() string {
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
