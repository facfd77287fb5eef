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
	if got := max(exitFindings, 3); got != 3 {
		t.Errorf("1 and 3: got %d", got)
	}
	if got := max(5, exitFindings); got != 5 {
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

func TestNextCommandsLeadToTheNewestRefusedSession(t *testing.T) {
	result := &check.Result{Store: &session.Store{Path: "my file.db"}, Findings: []*check.Finding{
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC015"), Severity: rules.Info, Place: session.Place{Session: "other"}}, Root: &check.Head{ID: "other"}},
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC101"), Severity: rules.Error}},
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC701"), Severity: rules.Error, Place: session.Place{Session: "child"}}, Root: &check.Head{ID: "parent", Outlook: check.Refused}},
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC701"), Severity: rules.Error, Place: session.Place{Session: "child"}}, Root: &check.Head{ID: "parent", Outlook: check.Refused}},
	}}
	known := &check.Result{Store: &session.Store{Path: "known.db"}, Findings: []*check.Finding{
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC701"), Severity: rules.Error, Place: session.Place{Session: "parent"}}, Root: &check.Head{ID: "parent", Outlook: check.Refused}, Known: true},
	}}
	day := func(n int) time.Time { return time.Date(2026, 2, n, 0, 0, 0, 0, time.UTC) }
	refused := []rules.Judgement{{Profile: rules.FindProfile("anthropic"), Severity: rules.Error, Error: "no"}}
	split := []rules.Fix{{Edits: []session.Edit{{}}, Allow: []string{"split"}}}
	newer := &check.Result{Store: &session.Store{Path: "newer.db"}, Findings: []*check.Finding{
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC101"), Severity: rules.Error, Judged: refused, Fixes: []rules.Fix{{Edits: []session.Edit{{}}}}}, Root: &check.Head{ID: "older", Created: day(1)}},
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC707"), Severity: rules.Error, Judged: refused, Fixes: split}, Root: &check.Head{ID: "latest", Created: day(2), Outlook: check.Refused}},
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC015"), Severity: rules.Error}, Root: &check.Head{ID: "not refused", Created: day(3)}},
	}}
	resumes := &check.Result{Store: &session.Store{Path: "fine.db"}, Findings: []*check.Finding{
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC015"), Severity: rules.Info}, Root: &check.Head{ID: "fine"}},
	}}
	torn := &check.Result{Store: &session.Store{Path: "torn.db"}, Recovery: "copy it", Findings: []*check.Finding{{Defect: rules.Defect{Rule: catalogue.FindRule("SC001"), Severity: rules.Error}}}}
	stream := &check.Result{Store: &session.Store{Path: "-"}, Findings: result.Findings}
	lines := func(args []string, results ...*check.Result) string {
		var text []string
		for _, c := range nextCommands(args, results) {
			text = append(text, c.Line)
		}
		return strings.Join(text, "; ")
	}
	tests := []struct{ got, want string }{
		{lines(nil, result), "sessctl why parent; sessctl explain SC701"},
		{lines([]string{"."}, &check.Result{}, newer, known, result), "sessctl why newer.db latest; sessctl repair newer.db --dry-run; sessctl repair newer.db --allow split --dry-run"},
		{lines(nil, newer), "sessctl why latest; sessctl repair --dry-run; sessctl repair --allow split --dry-run"},
		{lines(nil, resumes), "sessctl view fine; sessctl explain SC015"},
		{lines(nil, torn), "sessctl explain SC001"},
		{lines([]string{"-"}, stream), "sessctl explain SC701"},
		{lines(nil, &check.Result{}), ""},
		{lines(nil, known), ""},
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
