package ci

import (
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkSARIF writes one run of a SARIF log.
type checkSARIF struct{ collected }

// SARIF writes one run of a SARIF log.
func SARIF(o render.CheckOptions) render.CheckWriter { return &checkSARIF{collected{CheckOptions: o}} }

func (c *checkSARIF) Close(end render.Ending) error {
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
		at := run.addArtifact(s, c.Folder)
		if s.trouble != "" {
			invocation.Notifications = append(invocation.Notifications, sarifNotification{
				"error", plainMessage(ui.AsSentence(s.trouble), s.next), []sarifLocation{{Physical: sarifPhysical{Artifact: at}}},
			})
		}
		for _, f := range s.allFindings() {
			result := sarifResultOf(f, at)
			result.RuleIndex, result.Baseline = indexes[f.Rule], baselineState(f, end.Baseline)
			run.Results = append(run.Results, result)
		}
	}
	invocation.Successful = len(invocation.Notifications) == 0
	run.Invocations = []sarifInvocation{invocation}
	return machine.JSON(c.Screen.Plain(), sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

// addArtifact adds a store, and says where it stands. Paths that mean the same are one
// artifact: the standard wants each once.
func (run *sarifRun) addArtifact(s *collectedStore, folder string) sarifArtifactLocation {
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
			machine.ProfileNames(r),
		}
	}
	at.Index = &index
	return at
}

// baselineState is what a finding is to those of an earlier run, "" where this one was
// not compared with any.
func baselineState(f *check.Finding, b *render.Baseline) string {
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

var semantic = pattern.Lazy(`^v?((?:(?:0|[1-9]\d*)\.){2}(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$`)

// semanticVersion is a version without the v that Go and git put before it, "" for
// what is of another form.
func semanticVersion(version string) string {
	if m := semantic().FindStringSubmatch(version); m != nil {
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

// relatedMax bounds the related locations of a result: GitHub shows 100 of them, and
// rejects a file with 1,000 at one result.
const relatedMax = 100

func sarifResultOf(f *check.Finding, at sarifArtifactLocation) sarifResult {
	text := []string{ui.EndSentence(render.BoundMessage(f.ReportedMessage()))}
	for _, c := range render.Consequences(f) {
		text = append(text, ui.AsSentence(ui.Clean(c.String())))
	}
	out := sarifResult{
		RuleID: f.Rule.ID, Level: sarifLevel(f.Severity), Message: plainMessage(text...),
		Locations:    []sarifLocation{{Physical: physicalLocation(at, f.Row), Logical: []sarifLogicalLocation{logicalLocation(f)}}},
		Related:      relatedLocations(f, at),
		Fingerprints: sarifFingerprints{f.Fingerprint, f.Fingerprint},
		Bag:          sarifFinding{Session: f.Session, Items: f.Items, Key: f.Row, Agent: f.Agent, Call: f.Call, Fix: machine.FixOf(f)},
	}
	if f.Root != nil {
		out.Bag.Root = f.Root.ID
	}
	if f.Profile != nil {
		out.Bag.Profile = f.Profile.Name
	}
	return out
}

// physicalLocation is a record in the file of a store. Only a stream has lines; what is no
// line of one stands at the first, because GitHub shows no result without a line.
func physicalLocation(at sarifArtifactLocation, row string) sarifPhysical {
	line := int64(1)
	if key, ok := strings.CutPrefix(row, session.TableLines+"/"); ok {
		if n, err := strconv.ParseInt(key, 10, 64); err == nil {
			line = max(n, 1)
		}
	}
	return sarifPhysical{at, &sarifRegion{line}}
}

// logicalLocation names what a finding is about: an item, a session, or, where it is
// the store's own, a record.
func logicalLocation(f *check.Finding) sarifLogicalLocation {
	if f.Root == nil {
		return sarifLogicalLocation{f.Row, f.Row, "record"}
	}
	return logicalPlace(f.Place)
}

func logicalPlace(p session.Place) sarifLogicalLocation {
	if p.Item < 0 {
		return sarifLogicalLocation{p.Session, p.Session, "session"}
	}
	item := strconv.Itoa(p.Item)
	return sarifLogicalLocation{item, p.Session + "/" + item, "item"}
}

// relatedLocations are the twins of a finding and what else it refers to.
func relatedLocations(f *check.Finding, at sarifArtifactLocation) []sarifLocation {
	var list []sarifLocation
	add := func(places []session.Place, what string) {
		for _, p := range places[:min(len(places), relatedMax-len(list))] {
			id := len(list)
			list = append(list, sarifLocation{
				ID: &id, Physical: physicalLocation(at, ""), Logical: []sarifLogicalLocation{logicalPlace(p)},
				Message: &sarifMessage{Text: what},
			})
		}
	}
	add(f.Related, "Related.")
	add(f.Twins, "The copy that stays.")
	return list
}

// sarifRules describes the rules that have findings, in the order of their ids, and
// says where each stands.
func sarifRules(stores []*collectedStore) ([]sarifRule, map[*rules.Rule]int, error) {
	indexes := map[*rules.Rule]int{}
	for _, s := range stores {
		for _, f := range s.allFindings() {
			indexes[f.Rule] = 0
		}
	}
	list := slices.SortedFunc(maps.Keys(indexes), func(a, b *rules.Rule) int { return strings.Compare(a.ID, b.ID) })
	described := make([]sarifRule, len(list))
	for i, r := range list {
		page, err := r.Page()
		if err != nil {
			return nil, nil, err
		}
		indexes[r], described[i] = i, describedRule(r, page)
	}
	return described, indexes, nil
}

func describedRule(r *rules.Rule, page string) sarifRule {
	tags := []string{"repair-" + r.Safety.String()}
	if r.Profiled {
		tags = append(tags, "provider")
	}
	return sarifRule{
		ID: r.ID, Name: pascalCase(r.Name), Short: sarifMessage{Text: ui.AsSentence(r.Title)}, Full: sarifMessage{Text: firstParagraph(page)},
		Help: sarifMessage{
			Text:     "`sessctl explain " + r.ID + "` prints the page of this rule: what it finds, why it matters, and what a repair does and costs.",
			Markdown: page,
		},
		HelpURI: projectURI + "/blob/main/docs/rules/" + r.ID + ".md", Defaults: sarifDefaults{sarifLevel(r.Severity)},
		Bag: sarifRuleExtra{tags},
	}
}

// pascalCase writes "leak-duplicate" as LeakDuplicate, the form that SARIF 2.1.0 shows for
// names of rules (3.49.7) and that viewers expect.
func pascalCase(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		out.WriteString(strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):])
	}
	return out.String()
}

// firstParagraph is the text below the heading of a rule's page, on one line.
func firstParagraph(page string) string {
	_, below, _ := strings.Cut(page, "\n\n")
	text, _, _ := strings.Cut(below, "\n\n")
	return strings.ReplaceAll(text, "\n", " ")
}

// sourceRoot is the name that readers of SARIF expect for the folder that relative
// paths begin at.
const sourceRoot = "%SRCROOT%"

// artifactLocation is where the store at a path stands: below the folder a relative
// reference, because GitHub finds nothing else in a repository; elsewhere a file URI.
// Standard input is no file and has only a name.
func artifactLocation(path, folder string) sarifArtifactLocation {
	if path == "-" {
		return sarifArtifactLocation{URI: "stdin"}
	}
	if folder != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if below, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(below) {
			return sarifArtifactLocation{URI: relativeURI(below), Base: sourceRoot}
		}
	}
	if !filepath.IsAbs(path) {
		return sarifArtifactLocation{URI: relativeURI(path)}
	}
	return sarifArtifactLocation{URI: fileURI(path)}
}

// relativeURI escapes a path; the bytes of a name that are no UTF-8 too.
func relativeURI(path string) string {
	return (&url.URL{Path: filepath.ToSlash(path)}).String()
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/data
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// folderURI ends in a slash, as a base has to.
func folderURI(path string) string { return strings.TrimSuffix(fileURI(path), "/") + "/" }

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
