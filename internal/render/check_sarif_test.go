package render_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/checks"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// sarifSchema is the official schema, which is no part of the repository.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	path := filepath.Join("..", "..", "bin", "schemas", "sarif-2.1.0.json")
	if _, err := os.Stat(path); err != nil {
		notValidated(t, "there is no bin/schemas/sarif-2.1.0.json; `make schemas` fetches it")
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat() // of URIs and times
	schema, err := compiler.Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(schema *jsonschema.Schema, log string) error {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(log))
	if err != nil {
		return err
	}
	return schema.Validate(document)
}

// twins is a run with what the runs of the other formats lack: places that belong to a
// finding, a line of a stream, a repair that needs a word, words that look like links.
func twins() *checked {
	root := &check.Head{ID: "9bd7326a-0001-4000-8000-000000000000"}
	leak := found("SC701", rules.Error, root, []int{4, 5}, "2 messages of [worker](https://example.com) stand in this session")
	leak.Item, leak.Agent, leak.Call = 4, "[worker](https://example.com)", "toolu_01"
	leak.Related = []session.Place{{Session: root.ID, Item: 6}}
	leak.Twins = []session.Place{{Session: "5d082e72", Item: 2}, {Session: "5d082e72", Item: -1}}
	leak.Fixes = []rules.Fix{{Title: "remove the copies", Safety: rules.Kept, Allow: []string{"drop-copies"}}}
	line := found("SC010", rules.Error, nil, nil, "line 12: {0} is no \x9b31m \u202e record \xff")
	line.Row = "lines/12"
	return &checked{results: []any{
		&check.Result{
			Store: &session.Store{Path: filepath.FromSlash("/elsewhere/100% #1.ndjson"), Kind: "canonical", Title: "canonical stream"},
			Trees: 1, Sessions: 2, Items: 12, Findings: []*check.Finding{line, leak},
		},
	}, end: render.Ending{ExitCode: 1}}
}

// TestSARIF leaves the pages of the rules out of the golden files.
func TestSARIF(t *testing.T) {
	page := regexp.MustCompile(`"markdown": "# (SC\d+) (?:[^"\\]|\\.)*"`)
	for name, c := range map[string]*checked{"stores.sarif": someStores(), "twins.sarif": twins()} {
		out, _ := c.print(t, "sarif")
		goldenIn(t, "check", name, page.ReplaceAllString(out, `"markdown": "(the page of $1)"`))
		safe(t, out)
	}
}

func TestSARIFIsValid(t *testing.T) {
	schema := sarifSchema(t)
	written := someStores()
	written.end.Baseline.Written = true
	for name, c := range map[string]*checked{
		"stores": someStores(), "twins": twins(), "written baseline": written, "many": manyFindings(10000), "nothing": {},
		"one store by two paths": {results: []any{render.Unread{Store: "a.db"}, render.Unread{Store: "./a.db"}}},
	} {
		out, _ := c.print(t, "sarif")
		if err := validate(schema, out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := validate(schema, strings.Replace(out, `"exitCode": `, `"exitCode": "1", "rest": `, 1)); err == nil {
			t.Errorf("%s: the schema takes anything", name)
		}
	}
}

// sarif is the part of a log that tests look into.
type sarif struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID, Name                          string
					ShortDescription, FullDescription struct{ Text string }
					Help                              struct{ Markdown string }
				}
			}
		}
		Results []struct {
			RuleID           string
			RuleIndex        int
			RelatedLocations []struct{ ID int }
		}
	}
}

func parse(t *testing.T, text string) (log sarif) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &log, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestSARIFTellsEveryFinding: machine formats are not shortened.
func TestSARIFTellsEveryFinding(t *testing.T) {
	for _, sessions := range []int{1, 10000} {
		out, _ := manyFindings(sessions).print(t, "sarif")
		run := parse(t, out).Runs[0]
		if len(run.Results) != 10000 || len(run.Tool.Driver.Rules) != 2 {
			t.Errorf("%d results of %d rules", len(run.Results), len(run.Tool.Driver.Rules))
		}
	}
}

// TestSARIFKeepsTheLimitsOfGitHub: a result with 1,000 locations would make it reject
// the file, and longer descriptions of rules are not taken.
func TestSARIFKeepsTheLimitsOfGitHub(t *testing.T) {
	c := twins()
	leak := c.results[0].(*check.Result).Findings[1]
	leak.Twins = make([]session.Place, 5000)
	every := &check.Result{Store: &session.Store{Path: "every.db"}}
	for _, r := range catalogue.All {
		every.Findings = append(every.Findings, found(r.ID, r.Severity, nil, nil, "found"))
	}
	c.results = append(c.results, every)
	out, _ := c.print(t, "sarif")
	run := parse(t, out).Runs[0]
	if n := len(run.Results[1].RelatedLocations); n != 100 {
		t.Errorf("%d related locations", n)
	}
	if len(run.Tool.Driver.Rules) != len(catalogue.All) {
		t.Fatalf("%d rules, want %d", len(run.Tool.Driver.Rules), len(catalogue.All))
	}
	pascal := regexp.MustCompile(`^(?:[A-Z][a-z0-9]*)+$`)
	for i, r := range run.Tool.Driver.Rules {
		page, err := catalogue.All[i].Page()
		if err != nil || r.ID != catalogue.All[i].ID || r.Help.Markdown != page || !pascal.MatchString(r.Name) {
			t.Errorf("rule %d is %s %s (%v)", i, r.ID, r.Name, err)
		}
		for _, text := range []string{r.ShortDescription.Text, r.FullDescription.Text} {
			if !strings.HasSuffix(text, ".") || len([]rune(text)) > 1024 || strings.Contains(text, "\n") {
				t.Errorf("%s is described as %q", r.ID, text)
			}
		}
	}
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("a result of %s names rule %d", r.RuleID, r.RuleIndex)
		}
	}
}

// TestAnyTextIsValidSARIF: whatever a store holds, and wherever it stands.
func TestAnyTextIsValidSARIF(t *testing.T) {
	schema := sarifSchema(t)
	text := rapid.OneOf(
		rapid.String(), rapid.StringMatching(`[/.:%?#&\[\](){}\\"* a-]*`), rapid.Just("-"),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	place := rapid.Custom(func(t *rapid.T) session.Place {
		return session.Place{Session: text.Draw(t, "session"), Item: rapid.IntRange(-1, 5).Draw(t, "item")}
	})
	finding := rapid.Custom(func(t *rapid.T) *check.Finding {
		f := &check.Finding{
			Defect: rules.Defect{
				Rule:     rapid.SampledFrom(catalogue.All).Draw(t, "rule"),
				Severity: rapid.SampledFrom([]rules.Severity{rules.Info, rules.Warning, rules.Error}).Draw(t, "severity"),
				Items:    rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "items"),
				Agent:    text.Draw(t, "agent"),
				Call:     text.Draw(t, "call"),
				Message:  text.Draw(t, "message"),
				Sent:     text.Draw(t, "sent"),
				Related:  rapid.SliceOf(place).Draw(t, "related"),
				Twins:    rapid.SliceOf(place).Draw(t, "twins"),
				Place:    session.Place{Item: rapid.IntRange(-1, 9).Draw(t, "first")},
			},
			Row: rapid.OneOf(text, rapid.StringMatching(`lines/-?[0-9]{1,25}`)).Draw(t, "row"), Fingerprint: text.Draw(t, "fingerprint"), Known: rapid.Bool().Draw(t, "known"),
		}
		if rapid.Bool().Draw(t, "in a session") {
			f.Session, f.Root = text.Draw(t, "session"), &check.Head{ID: text.Draw(t, "root")}
		}
		return f
	})
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w := checks.FindFormat("sarif").New(render.CheckOptions{
			Screen: ui.NewScreen(&out, ui.ColorNever, func(string) string { return "" }), Folder: rapid.OneOf(rapid.Just(""), rapid.Just("/work"), rapid.Just("/")).Draw(t, "folder"),
		})
		w.Unread(render.Unread{Store: text.Draw(t, "unread"), Message: text.Draw(t, "reason"), Next: text.Draw(t, "next")})
		for range rapid.IntRange(0, 3).Draw(t, "stores") {
			store := &session.Store{Path: text.Draw(t, "path"), Kind: text.Draw(t, "kind"), Generation: text.Draw(t, "generation")}
			if err := w.Store(&check.Result{Store: store, Incomplete: text.Draw(t, "incomplete"), Findings: rapid.SliceOf(finding).Draw(t, "findings")}, 0); err != nil {
				t.Fatal(err)
			}
		}
		end := render.Ending{ExitCode: rapid.IntRange(0, 130).Draw(t, "exit code")}
		if rapid.Bool().Draw(t, "compared") {
			end.Baseline = &render.Baseline{}
		}
		if err := w.Close(end); err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, out.String()); err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
	})
}

// TestSARIFSaysWhatBecameOfAFinding since the baseline was written.
func TestSARIFSaysWhatBecameOfAFinding(t *testing.T) {
	states := func(b *render.Baseline) (all []string) {
		c := someStores()
		c.end.Baseline = b
		out, _ := c.print(t, "sarif")
		for _, m := range regexp.MustCompile(`"baselineState": "(\w+)"`).FindAllStringSubmatch(out, -1) {
			all = append(all, m[1])
		}
		return all
	}
	for want, b := range map[string]*render.Baseline{
		"[]": nil, "[ ]": {Written: true}, "[new new unchanged new updated new new new unchanged]": {},
	} {
		if diff := cmp.Diff(strings.ReplaceAll(want, "[ ]", "[]"), fmt.Sprint(states(b))); diff != "" {
			t.Error(diff)
		}
	}
}
