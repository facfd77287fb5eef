package render

import "encoding/xml"

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
