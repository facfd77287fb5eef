package render_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/checks"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// checked is a run over several stores, for the formats that are written as a whole.
type checked struct {
	results []any // *check.Result or render.Unread, in the order in which a run tells them
	end     render.Ending
	max     int // findings of one rule, or in text of a store
	least   rules.Severity
	content bool
}

// print runs the writer of a format, and gives what went to the summary of a step.
func (c *checked) print(t *testing.T, format string) (out, summary string) {
	t.Helper()
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	var text, step bytes.Buffer
	w := checks.FindFormat(format).New(render.CheckOptions{
		Screen: ui.NewScreen(&text, ui.ColorNever, func(string) string { return "" }), Tool: render.Tool{Name: "sessctl", Version: "test"},
		MaxFindings: c.max, Least: c.least, Content: c.content, Folder: filepath.FromSlash("/src/project"), StepSummary: &step,
		Fails:   func(f *check.Finding) bool { return !f.Known && f.Severity == rules.Error },
		Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("CET", 3600)),
	})
	for _, r := range c.results {
		switch r := r.(type) {
		case *check.Result:
			if err := w.Store(r, 1234*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		case render.Unread:
			w.Unread(r)
		}
	}
	if err := w.Close(c.end); err != nil {
		t.Fatal(err)
	}
	return text.String(), step.String()
}

func found(rule string, severity rules.Severity, root *check.Head, items []int, message string) *check.Finding {
	f := &check.Finding{Defect: rules.Defect{Rule: catalogue.FindRule(rule), Severity: severity, Items: items, Message: message, Place: session.Place{Item: -1}}, Root: root, Row: "session_items/17", Fingerprint: "f"}
	if root != nil {
		f.Session = root.ID
	}
	return f
}

// someStores are findings of every severity, one of the store itself, a store that
// could not be read, one that was not read to its end, and a baseline.
func someStores() *checked {
	day := time.Date(2026, 2, 4, 10, 0, 0, 0, time.UTC)
	leaky := &check.Head{ID: "9bd7326a-0001-4000-8000-000000000000", Title: "Review a|b <i>now</i> ]]> & more", Created: day}
	clean := &check.Head{ID: "0c0ffee0-0002-4000-8000-000000000000", Title: "", Created: day}
	alike := &check.Head{ID: "9bd7326a-0003-4000-8000-000000000000", Title: leaky.Title, Created: day}
	refused := found("SC101", rules.Error, leaky, []int{3}, "the call toolu_2 (shell) has no result")
	refused.Profile, refused.ProviderError = rules.FindProfile("anthropic"), "messages.2: `tool_use` ids were found without `tool_result` blocks"
	known := found("SC701", rules.Error, leaky, []int{4, 5}, "2 messages of worker stand in this session")
	known.Known = true
	worse := found("SC701", rules.Error, alike, []int{1, 2, 3, 7}, "4 messages of worker stand in this session")
	worse.Was = &check.Extent{Severity: rules.Error, Items: 2}
	onlyKnown := found("SC104", rules.Warning, &check.Head{ID: "trace", Title: "A trace", Created: day}, []int{2}, "the result of toolu_7 comes late")
	onlyKnown.Known = true
	return &checked{max: 2, results: []any{
		&check.Result{
			Store: &session.Store{
				Path: filepath.FromSlash("/src/project/stores/a,b: 100%.db"), Kind: "docker-agent", Title: "docker agent", Generation: "018",
				Bytes: 123456, Writer: session.WriterDead, Advice: []string{"Versions before 1.9 leak; a newer one does not."},
			},
			Trees: 3, Sessions: 4, Items: 212, WithSubs: 1, Roots: []*check.Head{leaky, clean, alike},
			Profiles: []check.Use{{Profile: rules.FindProfile("anthropic"), Sessions: 3, Why: "model claude-opus-4-1"}},
			Findings: []*check.Finding{
				found("SC003", rules.Error, nil, nil, "1 row of session_items names a session that is not there"),
				refused, known,
				found("SC015", rules.Info, leaky, []int{1}, "item 1 is older than the one before it"),
				worse,
				found("SC015", rules.Info, alike, []int{2}, "item 2 is older than the one before it"),
				found("SC015", rules.Info, alike, []int{4}, "item 4 is older than the one before it"),
				found("SC104", rules.Warning, alike, []int{6}, "the result of toolu_9 comes late"),
			},
		},
		render.Unread{Store: "missing.db", Message: "there is no file missing.db", Next: "Check the path.", ExitCode: 3},
		render.Unread{Store: "trace.ndjson", Message: "trace.ndjson ends in the middle of a line", Next: "Export it again.", ExitCode: 3},
		&check.Result{
			Store: &session.Store{Path: "trace.ndjson", Kind: "canonical", Title: "canonical stream", Bytes: 99},
			Trees: 1, Sessions: 1, Items: 3, Roots: []*check.Head{onlyKnown.Root}, Findings: []*check.Finding{onlyKnown},
			Incomplete: "the store could not be read to its end",
		},
		&check.Result{Store: &session.Store{Path: "-", Kind: "canonical", Title: "canonical stream"}},
	}, end: render.Ending{
		ExitCode: 3, Baseline: &render.Baseline{Path: "baseline.json", Known: 2, Gone: 1},
		Next: []render.Command{{Line: "sessctl explain SC003", Why: "what it means and what a repair costs"}},
	}}
}

// manyFindings are 10,000 findings of two rules, in one session or in one each.
func manyFindings(sessions int) *checked {
	r := &check.Result{
		Store: &session.Store{Path: "many.db", Kind: "docker-agent", Title: "docker agent"}, Trees: sessions, Sessions: sessions, Items: 20000,
	}
	for i := range sessions {
		r.Roots = append(r.Roots, &check.Head{ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), Title: "A session"})
	}
	for i := range 10000 {
		root := r.Roots[i*sessions/10000]
		f := found("SC015", rules.Error, root, []int{i}, fmt.Sprintf("item %d is older than the one before it", i))
		if i == 9999 {
			f = found("SC701", rules.Error, root, []int{i}, "a message of worker stands in this session")
		}
		r.Findings = append(r.Findings, f)
	}
	return &checked{results: []any{r}, max: 100}
}

func TestFormatsForCI(t *testing.T) {
	for format, name := range map[string]string{"junit": "stores.xml", "github": "stores.github", "markdown": "stores.md"} {
		out, summary := someStores().print(t, format)
		goldenIn(t, "check", name, out)
		safe(t, out)
		if format == "github" {
			goldenIn(t, "check", "stores.md", summary)
		} else if summary != "" {
			t.Errorf("%s wrote a summary of the step:\n%s", format, summary)
		}
	}
}

// TestTextIsForPeople: the newest session first, a line a finding, the provider's answer
// once a session, with the call that it is about, and what is not listed is counted.
func TestTextIsForPeople(t *testing.T) {
	c := someStores()
	leaky := c.results[0].(*check.Result).Findings[1].Root
	newest := &check.Head{ID: "11111111-0001-4000-8000-000000000000", Title: "The newest", Created: leaky.Created.AddDate(0, 0, 1)}
	waiting := found("SC102", rules.Info, newest, []int{3}, "call toolu_3 (shell) has no result yet; docker-agent (pid 4711) has the store open")
	waiting.Profile = rules.FindProfile("anthropic")
	waiting.Judged = []rules.Judgement{{Profile: waiting.Profile, Error: "no"}}
	waiting.ProviderError, waiting.Call = "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_3. Each one must have one.", "toolu_3"
	r := c.results[0].(*check.Result)
	refused := r.Findings[1]
	refused.Judged, refused.Call, refused.Fixes = []rules.Judgement{{Profile: refused.Profile, Severity: rules.Error, Error: "no"}}, "toolu_2", []rules.Fix{{Edits: []session.Edit{{}}}}
	again := found("SC101", rules.Error, leaky, []int{9}, "call toolu_9 (shell) has no result. It never will.")
	again.Profile, again.ProviderError, again.Judged, again.Fixes = refused.Profile, refused.ProviderError, refused.Judged, []rules.Fix{{Edits: []session.Edit{{}}, Allow: []string{"guesses"}}}
	r.Findings = append(r.Findings, again, waiting)
	leaky.Outlook, newest.Outlook = check.Refused, check.Waits
	r.Trees, c.max, c.least = 4, 5, rules.Warning
	out, _ := c.print(t, "text")
	goldenIn(t, "check", "stores.text", out)
	safe(t, out)
	c.max = 1
	if out, _ = c.print(t, "text"); !strings.Contains(out, "\n11111111  The newest") || strings.Contains(out, "\n9bd7326a  ") {
		t.Errorf("the cap hides the newest session, or shows another one:\n%s", out)
	}
	r.Store.CountsKeys, c.max = true, 0
	out, _ = c.print(t, "text")
	if first := strings.Index(out, "9bd7326a  "); strings.Index(out, "The store itself") > first || first > strings.Index(out, "11111111  ") {
		t.Errorf("a stream does not keep its order:\n%s", out)
	}
}

func TestTenThousandFindingsStayReadable(t *testing.T) {
	for _, format := range []string{"junit", "github", "markdown"} {
		out, _ := manyFindings(1).print(t, format)
		if len(out) > 50_000 {
			t.Errorf("%s has %d bytes", format, len(out))
		}
		for _, want := range []string{"…and 9,899 more of SC015 time-goes-back in 1 session", "a message of worker stands"} {
			if !strings.Contains(out, want) && !strings.Contains(out, strings.ReplaceAll(want, " time-goes-back", ` time\-goes\-back`)) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
	}
	out, _ := manyFindings(1).print(t, "github")
	if first := strings.SplitN(out, "\n", 3); !strings.Contains(first[0], "SC015") || !strings.Contains(first[1], "SC701") {
		t.Errorf("the first annotations are of one rule:\n%s\n%s", first[0], first[1])
	}
	out, _ = manyFindings(10000).print(t, "junit")
	if cases, failures := strings.Count(out, "<testcase "), strings.Count(out, "<failure "); cases != 10000 || failures != 10000 {
		t.Errorf("got %d cases and %d failures for as many sessions", cases, failures)
	}
}

// TestTheSummaryOfAStepFits: what is cut off is counted.
func TestTheSummaryOfAStepFits(t *testing.T) {
	all := manyFindings(1)
	all.max = 0
	one := all.results[0].(*check.Result)
	stores := &checked{max: 100}
	for i := range 10000 {
		stores.results = append(stores.results, &check.Result{
			Store: &session.Store{Path: fmt.Sprintf("%d.db", i), Title: "docker agent"}, Findings: one.Findings[:1], Trees: 1,
		})
		if i == 0 {
			stores.results = append(stores.results, render.Unread{Store: "missing.db", Message: "there is no file missing.db"})
		}
	}
	for name, c := range map[string]*checked{"findings": all, "stores": stores} {
		_, summary := c.print(t, "github")
		if len(summary) > 1<<20/4 || len(summary) < 1<<18-2000 {
			t.Errorf("%s: %d bytes", name, len(summary))
		}
		rows, heads := strings.Count(summary, " item "), strings.Count(summary, "\n### ")
		words := fmt.Sprintf("%s findings left out", ui.Number(10000-rows))
		if name == "stores" {
			words = fmt.Sprintf("%s findings and %s stores left out", ui.Number(10000-rows), ui.Number(10001-heads))
		}
		if !strings.Contains(summary, "**Cut here:** "+words) {
			t.Errorf("%s: the end does not say %q:\n%s", name, words, summary[len(summary)-600:])
		}
	}
}

// TestNamesOfAnyLengthStayReadable: runtimes take names of any length, and records that
// are of one finding may be thousands.
func TestNamesOfAnyLengthStayReadable(t *testing.T) {
	one := manyFindings(1)
	one.max = 0
	r := one.results[0].(*check.Result)
	r.Findings = r.Findings[:100]
	for i := range 1000 {
		r.Findings[0].Items = append(r.Findings[0].Items, 2*i)
	}
	long := strings.Repeat("long", 25_000)
	r.Findings[1].Message, r.Findings[1].ProviderError, r.Findings[1].Sent, r.Roots[0].Title = long, long, long, long
	r.Findings[1].Profile = rules.FindProfile("anthropic")
	for _, format := range checks.FormatNames() {
		out, _ := one.print(t, format)
		if whole := strings.Contains(out, long); whole != strings.HasSuffix(format, "json") {
			t.Errorf("%s holds the whole name: %t", format, whole)
		}
		if format == "text" && len(out) > 20_000 {
			t.Errorf("100 findings have %d bytes", len(out))
		}
	}
}

// notValidated ends a test that lacks what it validates with. Where that was prepared, as
// .ci/run does, SESSCTL_MUST_VALIDATE is set, and the test fails.
func notValidated(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("SESSCTL_MUST_VALIDATE") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// TestJUnitIsValid asks the schemas, which are no part of the repository.
func TestJUnitIsValid(t *testing.T) {
	program, err := exec.LookPath("xmllint")
	if err != nil {
		notValidated(t, "there is no xmllint, which Debian has in libxml2-utils")
	}
	none := &checked{results: []any{&check.Result{Store: &session.Store{Path: "empty.db"}}}}
	for name, c := range map[string]*checked{"stores": someStores(), "empty": none, "nothing": {}} {
		out, _ := c.print(t, "junit")
		file := filepath.Join(t.TempDir(), name+".xml")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, schema := range []string{"JUnit.xsd", "jenkins-junit.xsd"} {
			path := filepath.Join("..", "..", "bin", "schemas", schema)
			if _, err := os.Stat(path); err != nil {
				notValidated(t, "there is no bin/schemas/"+schema+"; `make schemas` fetches it")
			}
			if said, err := exec.Command(program, "--noout", "--nonet", "--schema", path, file).CombinedOutput(); err != nil {
				t.Errorf("%s is not valid by %s: %v\n%s", name, schema, err, said)
			}
		}
	}
}
