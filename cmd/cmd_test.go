package cmd

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// testProgram is a program whose stderr is kept.
func testProgram() (*program, *bytes.Buffer) {
	var stderr bytes.Buffer
	p := &program{
		stdin: strings.NewReader(""), stdout: io.Discard, stderr: &stderr,
		getenv: func(string) string { return "" }, config: &config.Config{},
	}
	p.setScreens(ui.ColorAuto)
	return p, &stderr
}

// commands are all commands that people type.
func commands(root *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, c := range root.Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			list = append(list, c)
		}
	}
	return list
}

func TestEveryFlagIsASettingAndEverySettingAFlag(t *testing.T) {
	p, _ := testProgram()
	root := newRootCommand(p)
	notSettings := []string{"config", "help", "version", "isolation"} // isolation is a section of the file
	seen := map[string]bool{}
	look := func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(notSettings, f.Name) && !slices.Contains(config.Keys(), f.Name) {
			t.Errorf("--%s is no key of the configuration", f.Name)
		}
		seen[f.Name] = true
	}
	root.PersistentFlags().VisitAll(look)
	for _, c := range commands(root) {
		c.Flags().VisitAll(look)
	}
	for _, key := range config.Keys() {
		if !seen[key] {
			t.Errorf("no command has the flag --%s", key)
		}
	}
}

func TestEveryCommandSaysHowItEnds(t *testing.T) {
	p, _ := testProgram()
	for _, c := range commands(newRootCommand(p)) {
		if !strings.Contains(c.Long, "EXIT STATUS") || c.Example == "" && c.Name() != "version" {
			t.Errorf("the help of %s lacks its exit codes or an example", c.Name())
		}
	}
}

func TestExitCodesOfSeveralResults(t *testing.T) {
	if got := worse(exitFindings, 3); got != 3 {
		t.Errorf("1 and 3: got %d", got)
	}
	if got := worse(5, exitFindings); got != 5 {
		t.Errorf("5 and 1: got %d", got)
	}
	if got := exitCode(io.ErrUnexpectedEOF); got != 3 {
		t.Errorf("an error without a class: got %d", got)
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 2, 10, 12, 0, 0, 0, time.FixedZone("", 3600))
	tests := []struct{ in, want string }{
		{"2026-02-03", "2026-02-03T00:00:00+01:00"},
		{"2026-02-03T10:00:00Z", "2026-02-03T10:00:00Z"},
		{"36h", "2026-02-09T00:00:00+01:00"},
		{"7d", "2026-02-03T12:00:00+01:00"},
		{"2w", "2026-01-27T12:00:00+01:00"},
		{"90m", "2026-02-10T10:30:00+01:00"},
	}
	for _, tt := range tests {
		got, err := parseSince(tt.in, now)
		if err != nil || got.Format(time.RFC3339) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.in, got.Format(time.RFC3339), err, tt.want)
		}
	}
	for _, in := range []string{"yesterday", "-1h", "-7d", "d", "2026-13-01", "7"} {
		if got, err := parseSince(in, now); err == nil {
			t.Errorf("%s: got %s, want an error", in, got)
		}
	}
}

func TestNextCommandsLeadToTheWorstFindings(t *testing.T) {
	result := &check.Result{Store: &session.Store{Path: "my file.db"}, Findings: []*check.Finding{
		{Defect: rules.Defect{Rule: catalogue.Find("SC015"), Severity: rules.Info, Place: session.Place{Session: "other"}}, Root: &check.Head{ID: "other"}},
		{Defect: rules.Defect{Rule: catalogue.Find("SC101"), Severity: rules.Error}},
		{Defect: rules.Defect{Rule: catalogue.Find("SC701"), Severity: rules.Error, Place: session.Place{Session: "child"}}, Root: &check.Head{ID: "parent"}},
		{Defect: rules.Defect{Rule: catalogue.Find("SC701"), Severity: rules.Error, Place: session.Place{Session: "child"}}, Root: &check.Head{ID: "parent"}},
	}}
	known := &check.Result{Store: &session.Store{Path: "known.db"}, Findings: []*check.Finding{
		{Defect: rules.Defect{Rule: catalogue.Find("SC701"), Severity: rules.Error, Place: session.Place{Session: "parent"}}, Root: &check.Head{ID: "parent"}, Known: true},
	}}
	lines := func(args []string, results ...*check.Result) string {
		var text []string
		for _, c := range nextCommands(args, results) {
			text = append(text, c.Line)
		}
		return strings.Join(text, "; ")
	}
	tests := []struct{ got, want string }{
		{lines(nil, result), "sessctl explain SC701; sessctl view parent"},
		{lines([]string{"my file.db"}, result), "sessctl explain SC701; sessctl view 'my file.db' parent"},
		{lines(nil, &check.Result{}, result), "sessctl explain SC701; sessctl view 'my file.db' parent"},
		{lines(nil, &check.Result{}), ""},
		{lines(nil, known), ""},
		{lines([]string{"."}, known, result), "sessctl explain SC701; sessctl view 'my file.db' parent"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestInputThatStaysSilentDoesNotKeepAnInterruptedRun(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	in := &interruptible{ctx, r}
	go func() { _, _ = w.Write([]byte("hello")) }()
	buffer := make([]byte, 16)
	if n, err := in.Read(buffer); string(buffer[:n]) != "hello" || err != nil {
		t.Errorf("got %q, %v", buffer[:n], err)
	}
	cancel()
	if _, err := in.Read(buffer); err != context.Canceled {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}
