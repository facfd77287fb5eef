package render

import (
	"regexp"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkSARIF writes one run of a SARIF log.
type checkSARIF struct{ collected }

func (c *checkSARIF) Close(end Ending) error {
	described, indexes, err := sarifRules(c.stores)
	if err != nil {
		return err
	}
	invocation := sarifInvocation{ExitCode: end.ExitCode}
	if !c.Started.IsZero() {
		invocation.Started = c.Started.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	run := sarifRun{Tool: sarifTool{sarifDriver{
		Name: c.Tool.Name, FullName: c.Tool.Name + " " + c.Tool.Version, Version: c.Tool.Version,
		SemanticVersion: semanticVersion(c.Tool.Version), InformationURI: projectURI, Rules: described,
	}}}
	if c.Folder != "" {
		run.URIBases = map[string]sarifArtifactLocation{sourceRoot: {URI: folderURI(c.Folder)}}
	}
	for _, s := range c.stores {
		at := run.artifact(s, c.Folder)
		if s.trouble != "" {
			invocation.Notifications = append(invocation.Notifications, sarifNotification{
				"error", plainMessage(ui.Sentence(s.trouble), s.next), []sarifLocation{{Physical: sarifPhysical{Artifact: at}}},
			})
		}
		for _, f := range s.findings() {
			result := sarifResultOf(f, at)
			result.RuleIndex, result.Baseline = indexes[f.Rule], baselineState(f, end.Baseline)
			run.Results = append(run.Results, result)
		}
	}
	invocation.Successful = len(invocation.Notifications) == 0
	run.Invocations = []sarifInvocation{invocation}
	return JSON(c.Screen.Plain(), sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

// artifact adds a store, and says where it stands. Paths that mean the same are one
// artifact: the standard wants each once.
func (run *sarifRun) artifact(s *collectedStore, folder string) sarifArtifactLocation {
	at := artifactLocation(s.path, folder)
	index := len(run.Artifacts)
	for i := range run.Artifacts {
		if run.Artifacts[i].Location == at {
			index = i
		}
	}
	if index == len(run.Artifacts) {
		run.Artifacts = append(run.Artifacts, sarifArtifact{Location: at, Roles: []string{"analysisTarget"}})
	}
	if r := s.result; r != nil {
		run.Artifacts[index].Length = r.Store.Bytes
		run.Artifacts[index].Bag = &sarifStore{
			r.Store.Kind, r.Store.Generation, r.Sessions, r.Items, r.Store.Writer.String(),
			strings.Join(profileNames(check.Profiles(r.Profiles)), ","),
		}
	}
	at.Index = &index
	return at
}

// baselineState is what a finding is to those of an earlier run, "" where this one was
// not compared with any.
func baselineState(f *check.Finding, b *Baseline) string {
	switch {
	case b == nil || b.Written:
		return ""
	case f.Known:
		return "unchanged"
	case f.Was != nil:
		return "updated"
	}
	return "new"
}

var semantic = regexp.MustCompile(`^v?((?:(?:0|[1-9]\d*)\.){2}(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$`)

// semanticVersion is a version without the v that Go and git put before it, "" for
// what is of another form.
func semanticVersion(version string) string {
	if m := semantic.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return ""
}

// sarifLevel is the standard's word for a severity.
func sarifLevel(s rules.Severity) string {
	return [...]string{rules.Info: "note", rules.Warning: "warning", rules.Error: "error"}[s]
}

// plainMessage is a message of sentences that makes no link: a plain text message of
// SARIF links where brackets and parentheses meet (3.11.6). Braces stay as they are:
// readers take them for placeholders only where there are arguments.
func plainMessage(sentences ...string) sarifMessage {
	text := ui.Clean(strings.TrimSpace(strings.Join(sentences, " ")))
	return sarifMessage{Text: strings.ReplaceAll(text, "](", "] (")}
}
