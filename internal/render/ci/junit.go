package ci

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkJUnit prints a test suite for each store with a case for each session tree.
// A case fails when the run fails because of a finding of it. The other findings
// stand in the output of the suite: a case of the older of the two schemas has no
// output of its own.
type checkJUnit struct{ collected }

// JUnit prints a test suite for each store.
func JUnit(o render.CheckOptions) render.CheckWriter { return &checkJUnit{collected{CheckOptions: o}} }

// storeItself is the case for what concerns no session.
const storeItself = "the store itself"

func (c *checkJUnit) Close(render.Ending) error {
	document := junitSuites{Suites: make([]junitSuite, len(c.stores))}
	for i, s := range c.stores {
		document.Suites[i] = c.storeSuite(i, s)
	}
	text, err := xml.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.Screen.Plain(), xml.Header+string(text)+"\n")
	return err
}

func (c *checkJUnit) storeSuite(id int, s *collectedStore) junitSuite {
	suite := junitSuite{
		Package: c.Tool.Name, ID: id, Name: ui.Clean(c.locatePath(s.path)), Hostname: "localhost",
		Timestamp: c.Started.UTC().Format("2006-01-02T15:04:05"), Time: formatSeconds(s.took),
		Properties: []junitProperty{{"tool", c.Tool.Name + " " + c.Tool.Version}},
	}
	byRoot := map[string][]*check.Finding{}
	var own []*check.Finding
	for _, f := range s.allFindings() {
		if f.Root == nil {
			own = append(own, f)
		} else {
			byRoot[f.Root.ID] = append(byRoot[f.Root.ID], f)
		}
	}
	var roots []*check.Head
	if s.result != nil {
		roots = slices.SortedFunc(slices.Values(s.result.Roots), func(a, b *check.Head) int { return cmp.Compare(a.ID, b.ID) })
		suite.addProperties(s.result)
	}
	// Jenkins takes a report without any case for a broken one.
	if len(own) > 0 || s.trouble != "" || len(roots) == 0 {
		suite.addCase(c.testCase(storeItself, own).withTrouble(s))
	}
	for i, name := range caseNames(roots) {
		suite.addCase(c.testCase(name, byRoot[roots[i].ID]))
	}
	suite.SystemOut.Text = c.suiteOutput(s)
	return suite
}

// addProperties says what the store is.
func (suite *junitSuite) addProperties(r *check.Result) {
	suite.Properties = append(suite.Properties,
		junitProperty{"kind", ui.Clean(r.Store.Kind)}, junitProperty{"writer", r.Store.Writer.String()},
		junitProperty{"sessions", strconv.Itoa(r.Sessions)}, junitProperty{"items", strconv.Itoa(r.Items)},
	)
	if judges := render.JudgeList(r.Profiles); judges != "" {
		suite.Properties = append(suite.Properties, junitProperty{"profiles", "checked against: " + judges})
	}
}

func (suite *junitSuite) addCase(c junitCase) {
	c.ClassName, c.Time = suite.Name, formatSeconds(0) // trees are checked at the same time: nobody knows what one took
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
		names[i] = ui.Clean(rules.ShortID(root.ID)) + " " + render.BoundMessage(render.Title(root.Title))
		times[names[i]]++
	}
	for i, root := range roots {
		if times[names[i]] > 1 {
			names[i] = ui.Clean(root.ID) + " " + render.BoundMessage(render.Title(root.Title))
		}
	}
	return names
}

// testCase is the case of a tree, or of what concerns no session.
func (c *checkJUnit) testCase(name string, findings []*check.Finding) junitCase {
	failing, others := c.splitFailing(findings)
	if len(failing) == 0 {
		return junitCase{Name: name}
	}
	worst := slices.MaxFunc(failing, func(a, b *check.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	return junitCase{Name: name, Failure: &junitFault{
		Type: worst.Rule.ID, Message: ui.EndSentence(ui.Clean(render.ReportedMessage(worst))), Text: c.findingListing(slices.Concat(failing, others)),
	}}
}

// withTrouble adds that the store could not be read completely.
func (t junitCase) withTrouble(s *collectedStore) junitCase {
	if s.trouble == "" {
		return t
	}
	t.Error = &junitFault{Type: "incomplete", Message: ui.AsSentence(ui.Clean(s.trouble)), Text: "\n" + s.troubleWords() + "\n"}
	if s.result == nil {
		t.Error.Type = "unread"
	}
	if t.Failure != nil { // a case has either
		t.Error.Text += t.Failure.Text
		t.Failure = nil
	}
	return t
}

// splitFailing parts the findings that fail the run from the others.
func (c *checkJUnit) splitFailing(findings []*check.Finding) (failing, others []*check.Finding) {
	for _, f := range findings {
		if !f.Known && c.Fails(f) {
			failing = append(failing, f)
		} else {
			others = append(others, f)
		}
	}
	return failing, others
}

func formatSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// suiteOutput are the findings that fail nothing, below their sessions, and what
// providers answer.
func (c *checkJUnit) suiteOutput(s *collectedStore) string {
	if s.result == nil {
		return ""
	}
	var doc document.Document
	_, others := c.splitFailing(s.result.Findings)
	shown, hidden := render.LimitFindings(others, c.MaxFindings)
	if len(shown) > 0 {
		doc = append(document.Document{document.Gap{}}, render.FindingBlocks(shown, junitWidth, junitFinding)...)
	}
	doc = append(doc, render.HiddenLines(hidden))
	for _, a := range s.result.Answers {
		doc = append(append(doc, document.Gap{}), render.AnswerBlocks([]check.Answer{a})...)
	}
	return document.UnstyledLines(doc, junitWidth)
}

// junitWidth is the column at which texts are wrapped: the columns of a report in a
// browser are not known.
const junitWidth = 100

// findingListing are findings as the text format prints them.
func (c *checkJUnit) findingListing(findings []*check.Finding) string {
	doc := document.Document{document.Gap{}}
	shown, hidden := render.LimitFindings(findings, c.MaxFindings)
	for _, f := range shown {
		doc = append(doc, junitFinding(f))
	}
	return document.UnstyledLines(append(doc, render.HiddenLines(hidden)), junitWidth)
}

func junitFinding(f *check.Finding) document.Finding {
	found := render.NewFinding(f, render.ReportedMessage(f), true)
	found.Known, found.Keep = f.Known, ""
	return found
}

// The document is valid by both schemas that people test with: that of Windy Road
// for Ant, which wants timestamp, hostname, properties and both outputs and knows
// neither attributes of testsuites nor outputs of a case, and that of Jenkins, which
// wants one property at least. Texts went through ui.Clean before, so a CDATA section
// can hold them.

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Package    string          `xml:"package,attr"`
	ID         int             `xml:"id,attr"`
	Name       string          `xml:"name,attr"`
	Timestamp  string          `xml:"timestamp,attr"` // in UTC, without a zone
	Hostname   string          `xml:"hostname,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Time       string          `xml:"time,attr"` // in seconds
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	SystemOut  junitText       `xml:"system-out"`
	SystemErr  junitText       `xml:"system-err"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// junitCase is a test. GitLab and others show its class as the suite.
type junitCase struct {
	ClassName string      `xml:"classname,attr"`
	Name      string      `xml:"name,attr"`
	Time      string      `xml:"time,attr"` // in seconds
	Failure   *junitFault `xml:"failure"`
	Error     *junitFault `xml:"error"`
}

// junitFault is a failure or an error. Jenkins shows the message above the text,
// GitLab the text alone.
type junitFault struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}
