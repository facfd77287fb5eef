package ci

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkGitHub prints workflow commands, of which GitHub makes annotations, and a
// line that sums up. The summary of the step gets the whole report.
type checkGitHub struct{ collected }

// GitHub prints annotations, and writes the summary of the step.
func GitHub(o render.CheckOptions) render.CheckWriter {
	return &checkGitHub{collected{CheckOptions: o}}
}

// annotation is a finding in a store.
type annotation struct {
	store   *collectedStore
	finding *check.Finding
	nth     int // of its rule in the store
}

func (c *checkGitHub) Close(end render.Ending) error {
	var out strings.Builder
	var annotations []annotation
	var more []string
	for _, s := range c.stores {
		file := ui.Clean(c.locatePath(s.path))
		if s.trouble != "" {
			out.WriteString(workflowCommand("error", file, "not read completely", s.troubleWords()+"\nin "+file))
		}
		shown, hidden := render.LimitFindings(c.ShownFindings(s.allFindings()), c.MaxFindings)
		nth := map[*rules.Rule]int{}
		for _, f := range shown {
			annotations = append(annotations, annotation{s, f, nth[f.Rule]})
			nth[f.Rule]++
		}
		for _, h := range hidden {
			more = append(more, workflowCommand("notice", file, h.Rule.ID+" "+h.Rule.Name, h.Words()+"\nin "+file))
		}
	}
	// GitHub shows the first ten of each level: they are of as many rules as there are.
	slices.SortStableFunc(annotations, func(a, b annotation) int {
		return cmp.Or(cmp.Compare(b.finding.Severity, a.finding.Severity), cmp.Compare(a.nth, b.nth))
	})
	for _, a := range annotations {
		out.WriteString(c.findingCommand(a))
	}
	out.WriteString(strings.Join(more, ""))
	if !c.Quiet {
		out.WriteString(c.summaryLine() + "\n")
	}
	if _, err := io.WriteString(c.Screen.Plain(), out.String()); err != nil || c.StepSummary == nil {
		return err
	}
	_, err := io.WriteString(c.StepSummary, summaryPage(c.reportPage(end), stepSummarySize))
	return err
}

// findingCommand is the workflow command of a finding. A store has no lines, so it names
// none, and GitHub takes the first. The log of the run shows the message alone, and
// 4096 characters of it (actions/runner, _maxIssueMessageLength in ExecutionContext.cs): what
// matters most stands in front.
func (c *checkGitHub) findingCommand(a annotation) string {
	f, file := a.finding, ui.Clean(c.locatePath(a.store.path))
	lines := []string{
		ui.EndSentence(ui.Clean(render.ReportedMessage(f))),
		"in " + file + ", " + ui.Truncate(render.FindingPlace(f), render.WidestPlace),
	}
	for _, c := range render.Consequences(f) {
		lines = append(lines, ui.Clean(c.String()))
	}
	lines = append(lines, "what it means: sessctl explain "+f.Rule.ID)
	level := [...]string{rules.Info: "notice", rules.Warning: "warning", rules.Error: "error"}[f.Severity]
	return workflowCommand(level, file, f.Rule.ID+" "+f.Rule.Name, strings.Join(lines, "\n"))
}

// workflowCommand is a line that GitHub takes for an annotation. The escapes are those
// of actions/toolkit (core/src/command.ts), which actions/runner takes back.
func workflowCommand(level, file, title, message string) string {
	return "::" + level + " file=" + property.Replace(file) + ",title=" + property.Replace(title) + "::" + data.Replace(message) + "\n"
}

var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
