package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
			_, _ = fmt.Fprintf(p.err, "%s\n", line)
		}
		return
	}
	width := p.err.TextWidth()
	text := ui.Hang(prefix, "  ", ui.Ended(ui.Clean(m.Message)), width)
	if m.Next != "" {
		text += ui.Hang("  ", "  ", ui.Clean(m.Next), width)
	}
	_, _ = fmt.Fprint(p.err, text)
}

// printsJSON reports whether the output is JSON. Before the configuration was
// read, the arguments and the environment have to tell.
func (p *program) printsJSON() bool {
	format := p.getenv(config.EnvName("format"))
	if p.config != nil {
		format = p.config.Format
	} else {
		for i, arg := range p.args {
			if value, ok := strings.CutPrefix(arg, "--format="); ok {
				format = value
			} else if arg == "--format" && i+1 < len(p.args) {
				format = p.args[i+1]
			}
		}
	}
	return slices.Contains([]string{"json", "ndjson"}, format)
}
