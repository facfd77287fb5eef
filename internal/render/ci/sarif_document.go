package ci

import "github.com/sessctl/sessctl/internal/render/machine"

// The parts of SARIF 2.1.0 (with errata 01) that a check has something for, under
// the names of the standard. The values of "properties" have the names of --format json.
// There is no automationDetails: it would win over the category that the user of GitHub's
// upload gives (github/codeql-action v4, upload-lib.ts).

const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifVersion = "2.1.0"
	projectURI   = "https://github.com/sessctl/sessctl"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool                        `json:"tool"`
	Invocations []sarifInvocation                `json:"invocations"`
	URIBases    map[string]sarifArtifactLocation `json:"originalUriBaseIds,omitempty"`
	Artifacts   []sarifArtifact                  `json:"artifacts"`
	Results     []sarifResult                    `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name            string      `json:"name"`
	FullName        string      `json:"fullName"` // rule GHAzDO1018 of the SARIF multitool wants it
	Version         string      `json:"version"`
	SemanticVersion string      `json:"semanticVersion,omitzero"`
	InformationURI  string      `json:"informationUri"`
	Rules           []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Short    sarifMessage   `json:"shortDescription"`
	Full     sarifMessage   `json:"fullDescription"`
	Help     sarifMessage   `json:"help"`
	HelpURI  string         `json:"helpUri"`
	Defaults sarifDefaults  `json:"defaultConfiguration"`
	Bag      sarifRuleExtra `json:"properties"`
}

type sarifDefaults struct {
	Level string `json:"level"`
}

type sarifRuleExtra struct {
	Tags []string `json:"tags"`
}

type sarifMessage struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitzero"`
}

type sarifInvocation struct {
	Started       string              `json:"startTimeUtc,omitzero"`
	ExitCode      int                 `json:"exitCode"`
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifArtifact struct {
	Location sarifArtifactLocation `json:"location"`
	Length   int64                 `json:"length,omitzero"`
	Roles    []string              `json:"roles"`
	Bag      *sarifStore           `json:"properties,omitzero"`
}

type sarifStore struct {
	Kind       string `json:"kind"`
	Generation string `json:"generation,omitzero"`
	Sessions   int    `json:"sessions"`
	Items      int    `json:"items"`
	Writer     string `json:"writer"`
	Profile    string `json:"profile,omitzero"`
}

type sarifArtifactLocation struct {
	URI   string `json:"uri"`
	Base  string `json:"uriBaseId,omitzero"`
	Index *int   `json:"index,omitzero"`
}

type sarifLocation struct {
	ID       *int                   `json:"id,omitzero"`
	Physical sarifPhysical          `json:"physicalLocation"`
	Logical  []sarifLogicalLocation `json:"logicalLocations,omitempty"`
	Message  *sarifMessage          `json:"message,omitzero"`
}

type sarifPhysical struct {
	Artifact sarifArtifactLocation `json:"artifactLocation"`
	Region   *sarifRegion          `json:"region,omitzero"`
}

type sarifRegion struct {
	StartLine int64 `json:"startLine"`
}

type sarifLogicalLocation struct {
	Name      string `json:"name"`
	Qualified string `json:"fullyQualifiedName"`
	Kind      string `json:"kind"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifMessage      `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	Fingerprints sarifFingerprints `json:"partialFingerprints"`
	Baseline     string            `json:"baselineState,omitzero"`
	Bag          sarifFinding      `json:"properties"`
}

// sarifFingerprints: GitHub reads primaryLocationLineHash only, and where it is missing
// its upload makes one of the line. Then all findings of a rule in a database would be
// one alert.
type sarifFingerprints struct {
	Sessctl string `json:"sessctl/v1"`
	GitHub  string `json:"primaryLocationLineHash"`
}

type sarifFinding struct {
	Session string       `json:"session,omitzero"`
	Root    string       `json:"root,omitzero"`
	Items   []int        `json:"items,omitempty"`
	Key     string       `json:"key"`
	Agent   string       `json:"agent,omitzero"`
	Call    string       `json:"call,omitzero"`
	Profile string       `json:"profile,omitzero"`
	Fix     *machine.Fix `json:"fix,omitzero"`
}
