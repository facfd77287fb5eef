package render

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkJUnit prints a test suite for each store with a case for each session tree.
// A case fails when the run fails because of a finding of it. The other findings
// stand in the output of the suite: a case of the older of the two schemas has no
// output of its own.
type checkJUnit struct{ collected }

// storeItself is the case for what concerns no session.
const storeItself = "the store itself"

func (c *checkJUnit) Close(Ending) error {
	document := junitSuites{Suites: make([]junitSuite, len(c.stores))}
	for i, s := range c.stores {
		document.Suites[i] = c.suite(i, s)
	}
	text, err := xml.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.Screen.Plain(), xml.Header+string(text)+"\n")
	return err
}

func (c *checkJUnit) suite(id int, s *collectedStore) junitSuite {
	suite := junitSuite{
		Package: c.Tool.Name, ID: id, Name: ui.Clean(c.located(s.path)), Hostname: "localhost",
		Timestamp: c.Started.UTC().Format("2006-01-02T15:04:05"), Time: seconds(s.took),
		Properties: []junitProperty{{"tool", c.Tool.Name + " " + c.Tool.Version}},
	}
	byRoot := map[string][]*check.Finding{}
	var own []*check.Finding
	for _, f := range s.findings() {
		if f.Root == nil {
			own = append(own, f)
		} else {
			byRoot[f.Root.ID] = append(byRoot[f.Root.ID], f)
		}
	}
	var roots []*check.Head
	if s.result != nil {
		roots = slices.SortedFunc(slices.Values(s.result.Roots), func(a, b *check.Head) int { return cmp.Compare(a.ID, b.ID) })
		suite.describe(s.result)
	}
	// Jenkins takes a report without any case for a broken one.
	if len(own) > 0 || s.trouble != "" || len(roots) == 0 {
		suite.add(c.testCase(storeItself, own).troubled(s))
	}
	for i, name := range caseNames(roots) {
		suite.add(c.testCase(name, byRoot[roots[i].ID]))
	}
	suite.SystemOut.Text = c.output(s)
	return suite
}

// describe says what the store is.
func (suite *junitSuite) describe(r *check.Result) {
	suite.Properties = append(suite.Properties,
		junitProperty{"kind", ui.Clean(r.Store.Kind)}, junitProperty{"writer", r.Store.Writer.String()},
		junitProperty{"sessions", strconv.Itoa(r.Sessions)}, junitProperty{"items", strconv.Itoa(r.Items)},
	)
	if judges := judges(r.Profiles); judges != "" {
		suite.Properties = append(suite.Properties, junitProperty{"profiles", judges})
	}
}

func (suite *junitSuite) add(c junitCase) {
	c.ClassName, c.Time = suite.Name, seconds(0) // trees are checked at the same time: nobody knows what one took
	suite.Cases = append(suite.Cases, c)
	suite.Tests++
	if c.Failure != nil {
		suite.Failures++
	}
	if c.Error != nil {
		suite.Errors++
	}
}

// caseNames are the short id and the title of each session: what stands in front
// stays visible where a list is narrow. GitLab shows one case only of those that are
// called alike, so these have their whole id.
func caseNames(roots []*check.Head) []string {
	names, times := make([]string, len(roots)), map[string]int{}
	for i, root := range roots {
		names[i] = ui.Clean(rules.Short(root.ID)) + " " + bounded(title(root.Title))
		times[names[i]]++
	}
	for i, root := range roots {
		if times[names[i]] > 1 {
			names[i] = ui.Clean(root.ID) + " " + bounded(title(root.Title))
		}
	}
	return names
}

// testCase is the case of a tree, or of what concerns no session.
func (c *checkJUnit) testCase(name string, findings []*check.Finding) junitCase {
	failing, others := c.parted(findings)
	if len(failing) == 0 {
		return junitCase{Name: name}
	}
	worst := slices.MaxFunc(failing, func(a, b *check.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	return junitCase{Name: name, Failure: &junitFault{
		Type: worst.Rule.ID, Message: ui.Ended(ui.Clean(reported(worst))), Text: c.listing(slices.Concat(failing, others)),
	}}
}

// troubled adds that the store could not be read completely.
func (t junitCase) troubled(s *collectedStore) junitCase {
	if s.trouble == "" {
		return t
	}
	t.Error = &junitFault{Type: "incomplete", Message: ui.Sentence(ui.Clean(s.trouble)), Text: "\n" + s.troubleWords() + "\n"}
	if s.result == nil {
		t.Error.Type = "unread"
	}
	if t.Failure != nil { // a case has either
		t.Error.Text += t.Failure.Text
		t.Failure = nil
	}
	return t
}

// parted parts the findings that fail the run from the others.
func (c *checkJUnit) parted(findings []*check.Finding) (failing, others []*check.Finding) {
	for _, f := range findings {
		if !f.Known && c.Fails(f) {
			failing = append(failing, f)
		} else {
			others = append(others, f)
		}
	}
	return failing, others
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
