package machine

import (
	"math"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// The keys of every document stand in docs/json.md; a test compares them.

const checkSchema = "sessctl.check/1"

type checkDocument struct {
	Schema   string           `json:"schema"`
	Tool     render.Tool      `json:"tool"`
	Stores   []jsonStore      `json:"stores"`
	Findings []jsonFinding    `json:"findings"`
	Requests []jsonRequest    `json:"requests,omitempty"`
	Unread   []render.Unread  `json:"unread,omitempty"`
	Baseline *render.Baseline `json:"baseline,omitzero"`
	Summary  jsonSummary      `json:"summary"`
	ExitCode int              `json:"exit_code"`
}

type jsonStore struct {
	Path       string    `json:"path"`
	Kind       string    `json:"kind"`
	Generation string    `json:"generation,omitzero"`
	Bytes      int64     `json:"bytes"`
	Sessions   int       `json:"sessions"` // sub-sessions included
	Roots      int       `json:"roots"`
	Items      int       `json:"items"`
	Compared   *int      `json:"compared,omitzero"`
	Writer     string    `json:"writer"`
	Profile    string    `json:"profile,omitzero"`
	Profiles   []jsonUse `json:"profiles,omitempty"`
	Incomplete string    `json:"incomplete,omitzero"`
}

type jsonFinding struct {
	Type          string          `json:"type,omitzero"` // in ndjson only
	Rule          string          `json:"rule"`
	Name          string          `json:"name"`
	Severity      string          `json:"severity"`
	Store         string          `json:"store"`
	Session       string          `json:"session,omitzero"`
	Root          string          `json:"root,omitzero"`
	Item          *int            `json:"item,omitzero"`
	Items         []int           `json:"items,omitempty"`
	Count         int             `json:"count,omitzero"`
	Key           string          `json:"key"`
	Agent         string          `json:"agent,omitzero"`
	Call          string          `json:"call,omitzero"`
	Profile       string          `json:"profile,omitzero"`
	Message       string          `json:"message"`
	ProviderError string          `json:"provider_error,omitzero"`
	Judged        []jsonJudgement `json:"judged,omitempty"`
	Eased         string          `json:"eased,omitzero"`
	Unloads       bool            `json:"unloads,omitzero"`
	Sent          string          `json:"sent,omitzero"`
	Fingerprint   string          `json:"fingerprint"`
	Known         bool            `json:"known,omitzero"`
	Related       []jsonPlace     `json:"related,omitempty"`
	Twins         []jsonPlace     `json:"twins,omitempty"`
	Fix           *Fix            `json:"fix,omitzero"`
}

type jsonPlace struct {
	Session string `json:"session"`
	Item    *int   `json:"item,omitzero"`
}

// Fix is what would put a finding right.
type Fix struct {
	Title  string `json:"title"`
	Safety string `json:"safety"`
	// Allow are the words of --allow that it needs.
	Allow []string `json:"allow,omitempty"`
}

type jsonSummary struct {
	Sessions int `json:"sessions"`
	Items    int `json:"items"`
	render.Severities
	Seconds float64 `json:"seconds"`
}

// checkJSON collects everything for one document.
type checkJSON struct {
	render.CheckOptions
	stores   []jsonStore
	findings []jsonFinding
	requests []jsonRequest
	unread   []render.Unread
	summary  jsonSummary
}

// NewCheck collects everything for one document.
func NewCheck(o render.CheckOptions) render.CheckWriter { return &checkJSON{CheckOptions: o} }

func (c *checkJSON) Store(r *check.Result, took time.Duration) error {
	c.addStore(r, took)
	for _, f := range r.Findings {
		c.findings = append(c.findings, findingObject(r.Store.Path, f))
	}
	return nil
}

func (c *checkJSON) Unread(u render.Unread) { c.unread = append(c.unread, u) }

func (c *checkJSON) Close(end render.Ending) error {
	return JSON(c.Screen.Plain(), checkDocument{
		Schema: checkSchema, Tool: c.Tool, Stores: c.stores, Findings: c.findings, Requests: c.requests,
		Unread: c.unread, Baseline: end.Baseline, Summary: c.summary, ExitCode: end.ExitCode,
	})
}

// addStore counts a store.
func (c *checkJSON) addStore(r *check.Result, took time.Duration) {
	c.stores = append(c.stores, jsonStore{
		Path: r.Store.Path, Kind: r.Store.Kind, Generation: r.Store.Generation, Bytes: r.Store.Bytes,
		Sessions: r.Sessions, Roots: r.Trees, Items: r.Items, Writer: r.Store.Writer.String(), Incomplete: r.Incomplete,
		Profile:  ProfileNames(r),
		Profiles: lists.MapEach(r.Profiles, func(u check.Use) jsonUse { return jsonUse{u.Profile.Name, u.Sessions, u.Why} }),
	})
	c.requests = append(c.requests, lists.MapEach(r.Answers, func(a check.Answer) jsonRequest {
		return jsonRequest{
			Store: r.Store.Path, Profile: a.Profile.Name, Why: a.Why, Verdict: a.Verdict.String(),
			Voice: a.Viewer, Error: a.Error, Item: itemIndex(a.Item), Rules: a.Rules, Closed: a.Closed,
		}
	})...)
	if r.Against {
		c.stores[len(c.stores)-1].Compared = &r.Compared
	}
	s := &c.summary
	s.Sessions += r.Sessions
	s.Items += r.Items
	s.Add(r.Findings)
	s.Seconds = math.Round((s.Seconds+took.Seconds())*1000) / 1000
}

// checkSummary is the last line of ndjson.
type checkSummary struct {
	Type   string      `json:"type"`
	Schema string      `json:"schema"`
	Tool   render.Tool `json:"tool"`
	jsonSummary
	Stores   []jsonStore      `json:"stores"`
	Requests []jsonRequest    `json:"requests,omitempty"`
	Unread   []render.Unread  `json:"unread,omitempty"`
	Baseline *render.Baseline `json:"baseline,omitzero"`
	ExitCode int              `json:"exit_code"`
}

// checkLines prints each finding at once, on a line of its own.
type checkLines struct{ checkJSON }

// CheckLines prints each finding at once, on a line of its own.
func CheckLines(o render.CheckOptions) render.CheckWriter {
	return &checkLines{checkJSON{CheckOptions: o}}
}

func (c *checkLines) Store(r *check.Result, took time.Duration) error {
	c.addStore(r, took)
	for _, f := range r.Findings {
		object := findingObject(r.Store.Path, f)
		object.Type = "finding"
		if err := writeLine(c.Screen.Plain(), object); err != nil {
			return err
		}
	}
	return nil
}

func (c *checkLines) Close(end render.Ending) error {
	return writeLine(c.Screen.Plain(), checkSummary{
		Type: "summary", Schema: checkSchema, Tool: c.Tool, jsonSummary: c.summary, Stores: c.stores, Requests: c.requests,
		Unread: c.unread, Baseline: end.Baseline, ExitCode: end.ExitCode,
	})
}

func findingObject(store string, f *check.Finding) jsonFinding {
	out := jsonFinding{
		Rule: f.Rule.ID, Name: f.Rule.Name, Severity: f.Severity.String(),
		Store: store, Session: f.Session, Item: itemIndex(f.Item), Items: f.Items, Count: f.Count, Key: f.Row,
		Agent: f.Agent, Call: f.Call, Message: f.ReportedMessage(), ProviderError: f.ProviderError, Eased: f.Eased, Unloads: f.Unloads, Sent: f.Sent,
		Fingerprint: f.Fingerprint, Known: f.Known, Related: lists.MapEach(f.Related, placeObject), Twins: lists.MapEach(f.Twins, placeObject), Fix: FixOf(f),
	}
	if f.Root != nil {
		out.Root = f.Root.ID
	}
	if f.Profile != nil {
		out.Profile = f.Profile.Name
	}
	if len(f.Judged) > 1 {
		out.Judged = lists.MapEach(f.Judged, func(j rules.Judgement) jsonJudgement {
			return jsonJudgement{j.Profile.Name, j.Severity.String(), j.Error}
		})
	}
	return out
}

// FixOf is the first fix of a finding, nil where there is none.
func FixOf(f *check.Finding) *Fix {
	if len(f.Fixes) == 0 {
		return nil
	}
	return &Fix{f.Fixes[0].Title, f.Fixes[0].Safety.String(), f.Fixes[0].Allow}
}

// itemIndex is left out when the place is a session as a whole.
func itemIndex(index int) *int {
	if index < 0 {
		return nil
	}
	return &index
}

func placeObject(p session.Place) jsonPlace { return jsonPlace{p.Session, itemIndex(p.Item)} }

// jsonUse says for how many sessions a profile was the judge.
type jsonUse struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
	Why      string `json:"why,omitzero"`
}

// jsonJudgement is how one of several profiles minds a finding.
type jsonJudgement struct {
	Profile       string `json:"profile"`
	Severity      string `json:"severity"`
	ProviderError string `json:"provider_error,omitzero"`
}

// jsonRequest is what a provider answers to the next request of a session.
type jsonRequest struct {
	Store   string   `json:"store"`
	Profile string   `json:"profile"`
	Why     string   `json:"why,omitzero"`
	Verdict string   `json:"verdict"`
	Voice   string   `json:"voice,omitzero"`
	Error   string   `json:"error,omitzero"`
	Item    *int     `json:"item,omitzero"`
	Rules   []string `json:"rules,omitempty"`
	Closed  bool     `json:"closed,omitzero"`
}

// ProfileNames are the names of those who judged the requests of a store.
func ProfileNames(r *check.Result) string {
	return strings.Join(lists.MapEach(check.UsedProfiles(r.Profiles), func(p *rules.Profile) string { return p.Name }), ",")
}
