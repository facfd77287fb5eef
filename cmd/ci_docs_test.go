package cmd

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/render/checks"
)

func ciPage(t *testing.T) string {
	t.Helper()
	return pages(t)[filepath.Join("..", "docs", "ci.md")]
}

// tableNames are the code spans in the first column of the table with a heading, sorted.
func tableNames(page, heading string) []string {
	_, table, _ := strings.Cut(page, "\n| "+heading+" |")
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if strings.HasPrefix(cells[0], "| `") {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return names
}

func TestCIPageExplainsAllFormats(t *testing.T) {
	want := slices.Sorted(slices.Values(checks.FormatNames()))
	if diff := cmp.Diff(want, tableNames(ciPage(t), "format")); diff != "" {
		t.Errorf("(-program +docs/ci.md):\n%s", diff)
	}
}

func TestCIPageExplainsTheAction(t *testing.T) {
	var action struct{ Inputs, Outputs map[string]any }
	text, err := os.ReadFile(filepath.Join("..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	page := ciPage(t)
	steps := 0
	for heading, keys := range map[string]map[string]any{"input": action.Inputs, "output": action.Outputs} {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(keys)), tableNames(page, heading)); diff != "" {
			t.Errorf("%ss (-action.yml +docs/ci.md):\n%s", heading, diff)
		}
	}
	for _, document := range yamlOf(t, page) {
		for _, step := range stepsOf(document) {
			if uses, _ := step["uses"].(string); !strings.HasPrefix(uses, "sessctl/sessctl@") {
				continue
			}
			steps++
			with := step["with"].(map[string]any)
			for input := range with {
				if _, ok := action.Inputs[input]; !ok {
					t.Errorf("an example gives the action the input %s, which it does not have", input)
				}
			}
			parseCommand(t, argumentsOf(with))
		}
	}
	if steps == 0 {
		t.Error("no step of the page uses the action")
	}
}

// argumentsOf are those that action.yml calls the program with, for the inputs of a step.
func argumentsOf(inputs map[string]any) []string {
	args := []string{"check", "--format", "github"}
	add := func(input string, flag ...string) {
		text, _ := inputs[input].(string)
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); line != "" {
				args = append(append(args, flag...), line)
			}
		}
	}
	add("fail-on", "--fail-on")
	add("baseline", "--baseline")
	add("report", "--report")
	add("args")
	args = append(args, "--")
	add("stores")
	return args
}

// stepsOf are the steps of all jobs of a workflow.
func stepsOf(document any) (steps []map[string]any) {
	switch v := document.(type) {
	case map[string]any:
		if v["uses"] != nil {
			return []map[string]any{v}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			steps = append(steps, stepsOf(v[key])...)
		}
	case []any:
		for _, one := range v {
			steps = append(steps, stepsOf(one)...)
		}
	}
	return steps
}

// Every flag of check stands on the page, but for those that are for a person: who looks into
// one session, or sits at a terminal.
func TestCIPageNamesTheFlagsOfCheck(t *testing.T) {
	forAPerson := []string{"as-is", "by-index", "explain-request", "assume-dead", "no-pager", "help"}
	p, _ := testProgram()
	root := newRootCommand(p)
	page := ciPage(t)
	look := func(f *pflag.Flag) {
		named := regexp.MustCompile(`--` + f.Name + `\b[^-]`).MatchString(page)
		if named == slices.Contains(forAPerson, f.Name) {
			t.Errorf("docs/ci.md and --%s: named %v", f.Name, named)
		}
	}
	newCheckCommand(p).Flags().VisitAll(look)
	root.PersistentFlags().VisitAll(look)
}

// yamlOf are the documents in the code blocks of YAML, which all have to be valid.
func yamlOf(t *testing.T, page string) (documents []any) {
	t.Helper()
	for _, b := range codeBlocks(page) {
		if b.language != "yaml" {
			continue
		}
		var document any
		if err := yaml.Unmarshal([]byte(b.text), &document); err != nil {
			t.Errorf("%v in\n%s", err, b.text)
		}
		documents = append(documents, document)
	}
	return documents
}

// actionlint knows GitHub's workflows; `make actionlint` installs it.
func TestWorkflows(t *testing.T) {
	campaign.ShowsNoRace(t)
	program, err := exec.LookPath("actionlint")
	if found, _ := filepath.Glob(filepath.Join("..", "bin", "actionlint-*")); len(found) > 0 {
		program, err = filepath.Abs(found[len(found)-1])
	}
	if err != nil {
		t.Skip("actionlint is not installed: run `make actionlint`")
	}
	if out, err := exec.Command(program, "-no-color", releaseWorkflow).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	workflows := 0
	for _, b := range codeBlocks(ciPage(t)) {
		if !strings.Contains(b.text, "runs-on:") {
			continue
		}
		workflows++
		lint := exec.Command(program, "-no-color", "-")
		lint.Stdin = strings.NewReader(b.text)
		if out, err := lint.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	if workflows == 0 {
		t.Error("there is no workflow on the page")
	}
}

var releaseWorkflow = filepath.Join("..", ".github", "workflows", "release.yml")

// A release is built by the goreleaser that the tests of the packages ran.
func TestReleaseWorkflowRunsTheGoreleaserOfTheMakefile(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := os.ReadFile(releaseWorkflow)
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^GORELEASER_VERSION := (\S+)$`).FindSubmatch(makefile)
	if version == nil || !strings.Contains(string(workflow), "\n          version: "+string(version[1])+"\n") {
		t.Errorf("the Makefile has goreleaser %s, and the workflow another one:\n%s", version, workflow)
	}
}

// TestPreCommitHook holds the hook against the command line and the page.
func TestPreCommitHook(t *testing.T) {
	campaign.ShowsNoRace(t)
	var hooks []struct{ ID, Entry, Language, Files, Exclude string }
	text, err := os.ReadFile(filepath.Join("..", ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &hooks); err != nil || len(hooks) != 1 || hooks[0].Language != "golang" {
		t.Fatalf("%v, %v", hooks, err)
	}
	hook := hooks[0]
	if !strings.Contains(ciPage(t), "- id: "+hook.ID+"\n") {
		t.Errorf("docs/ci.md does not name the hook %s", hook.ID)
	}
	parseCommand(t, append(strings.Fields(hook.Entry)[1:], "--fail-on=warning", "fixtures/a.db"))
	files, not := regexp.MustCompile(hook.Files), regexp.MustCompile(hook.Exclude)
	for path, want := range map[string]bool{
		"session.db": true, "fixtures/leaky.sqlite": true, "a/b.sqlite3": true, "fixtures/sessions.ndjson": true, "my-session-1.jsonl": true,
		"session.db-wal": false, "data.ndjson": false, "sessions/run.jsonl": false, "db.go": false, "session.json": false, "-q.db": false, "a/-q.db": true,
	} {
		if (files.MatchString(path) && !not.MatchString(path)) != want {
			t.Errorf("%s: the hook looks at it: %v", path, !want)
		}
	}
	t.Run("as pre-commit reads it", func(t *testing.T) {
		program, err := exec.LookPath("pre-commit")
		if err != nil {
			t.Skip("pre-commit is not installed")
		}
		validate := exec.Command(program, "validate-manifest", filepath.Join("..", ".pre-commit-hooks.yaml"))
		validate.Env = append(os.Environ(), "PRE_COMMIT_HOME="+t.TempDir())
		if out, err := validate.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}
