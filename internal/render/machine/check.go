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

// What a comment on a field says stands in docs/schema, which a test makes of these types.

// head says what a document is, and what wrote it.
type head struct {
	Schema string      `json:"schema"`
	Tool   render.Tool `json:"tool"`
}

const checkSchema = "sessctl.check/1"

type checkDocument struct {
	head
	Stores   []jsonStore   `json:"stores"`   // what was checked
	Findings []jsonFinding `json:"findings"` // one for each rule and cause: a leak of five messages is one finding
	// with `--explain-request`: what each provider answers to the next request of the session
	Requests []jsonRequest `json:"requests,omitempty"`
	// stores that could not be read, or not to their end; left out if there is none
	Unread   []render.Unread  `json:"unread,omitempty"`
	Baseline *render.Baseline `json:"baseline,omitzero"` // with a baseline; else left out
	Summary  jsonSummary      `json:"summary"`
	ExitCode int              `json:"exit_code"` // of the program: docs/exit-codes.md
}

type jsonStore struct {
	Path       string `json:"path"`                // as it was named; `-` is standard input
	Kind       string `json:"kind"`                // what `--store` takes: `sessctl stores` lists all
	Generation string `json:"generation,omitzero"` // of the schema: `018`
	Bytes      int64  `json:"bytes"`               // size of the file
	Sessions   int    `json:"sessions"`            // sessions that were checked, sub-sessions included
	Roots      int    `json:"roots"`               // trees that were checked
	Items      int    `json:"items"`               // items that were checked
	Compared   *int   `json:"compared,omitzero"`   // `replay --against` only: how many of them are in the recording
	Writer     string `json:"writer"`              // whether the runtime has the store open: `live`, `dead` or `unknown`
	// the profiles that requests were checked against, joined by commas; left out when no session has
	// a next request
	Profile    string    `json:"profile,omitzero"`
	Profiles   []jsonUse `json:"profiles,omitempty"`  // each of them
	Incomplete string    `json:"incomplete,omitzero"` // why the result does not cover everything; left out when it does
}

type jsonFinding struct {
	Type     string `json:"type,omitzero"`    // in ndjson only
	Rule     string `json:"rule"`             // its id: `SC701`
	Name     string `json:"name"`             // of the rule: `leak-duplicate`
	Severity string `json:"severity"`         // `error`, `warning` or `info`
	Store    string `json:"store"`            // path of the store
	Session  string `json:"session,omitzero"` // the session that it is about; left out when it is about the whole store
	Root     string `json:"root,omitzero"`    // root session of the tree; left out together with `session`
	// position of the first item named, from 0 in stored order; left out when the whole session is
	// meant
	Item  *int  `json:"item,omitzero"`
	Items []int `json:"items,omitempty"` // all positions that the finding names
	// how many records, parts of messages or the like it counts; left out when it counts nothing but
	// `items`
	Count   int    `json:"count,omitzero"`
	Key     string `json:"key"`              // the record: `session_items/17`
	Agent   string `json:"agent,omitzero"`   // the agent of the item; left out if the item has no agent
	Call    string `json:"call,omitzero"`    // id of the call; left out if the finding is not about a call
	Profile string `json:"profile,omitzero"` // the profile for which it is worst; left out when no provider is asked
	// for people; never holds what a message says, and `…` where `text` quotes a value of a wrong
	// form
	Message string `json:"message"`
	// what that provider answers to the next request (to a warning: what some of its models or servers
	// answer); left out when it accepts it or its words are not known
	ProviderError string          `json:"provider_error,omitzero"`
	Judged        []jsonJudgement `json:"judged,omitempty"` // with several profiles: each for which it is a finding
	// which runtimes, all that read the store, hide this error: they send something else instead; left
	// out when they do not
	Eased string `json:"eased,omitzero"`
	// true when the runtime fails to load the session because of it, else left out
	Unloads bool `json:"unloads,omitzero"`
	// what an adapter for the profile sends instead of what is stored; left out when nothing is
	Sent string `json:"sent,omitzero"`
	// the same in every run, also after the record has moved within its tree (in a canonical stream:
	// as long as it keeps its place in its session)
	Fingerprint string      `json:"fingerprint"`
	Known       bool        `json:"known,omitzero"`    // true for a finding of the baseline, else left out
	Related     []jsonPlace `json:"related,omitempty"` // further items of the same defect
	Twins       []jsonPlace `json:"twins,omitempty"`   // copies of leaked items, which stay where they are
	Fix         *Fix        `json:"fix,omitzero"`      // what would put it right; left out when there is nothing to repair
}

type jsonPlace struct {
	Session string `json:"session"`
	Item    *int   `json:"item,omitzero"` // left out when the whole session is meant
}

// Fix is what would put a finding right.
type Fix struct {
	Title string `json:"title"` // what a repair would do
	// `lossless`, `kept`, `lossy`, or `manual`: what you have to do yourself, or why a repair cannot
	// do it
	Safety string   `json:"safety"`
	Allow  []string `json:"allow,omitempty"` // the words of `--allow` that it needs; left out when a repair makes it without
}

type jsonSummary struct {
	Sessions int `json:"sessions"` // of all stores
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
		head: head{checkSchema, c.Tool}, Stores: c.stores, Findings: c.findings, Requests: c.requests,
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
	Type string `json:"type"`
	head
	jsonSummary
	Stores []jsonStore `json:"stores"` // what was checked
	// with `--explain-request`: what each provider answers to the next request of the session
	Requests []jsonRequest `json:"requests,omitempty"`
	// stores that could not be read, or not to their end; left out if there is none
	Unread   []render.Unread  `json:"unread,omitempty"`
	Baseline *render.Baseline `json:"baseline,omitzero"` // with a baseline; else left out
	ExitCode int              `json:"exit_code"`         // of the program: docs/exit-codes.md
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
		Type: "summary", head: head{checkSchema, c.Tool}, jsonSummary: c.summary, Stores: c.stores, Requests: c.requests,
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
	Name     string `json:"name"`         // see docs/profiles.md
	Sessions int    `json:"sessions"`     // sessions that were checked against it
	Why      string `json:"why,omitzero"` // what in the sessions points to it; left out when `--profile` named it
}

// jsonJudgement is how one of several profiles minds a finding.
type jsonJudgement struct {
	Profile       string `json:"profile"`
	Severity      string `json:"severity"`                // how much
	ProviderError string `json:"provider_error,omitzero"` // what it answers
}

// jsonRequest is what a provider answers to the next request of a session.
type jsonRequest struct {
	Store   string `json:"store"`
	Profile string `json:"profile"`
	Why     string `json:"why,omitzero"` // what in the session points to the profile; left out when `--profile` named it
	Verdict string `json:"verdict"`      // `accept`, `risk` (some models or servers refuse it) or `reject`
	// where several agents share the session: whose request is meant, if not that of the agent that
	// goes on; else left out
	Voice string `json:"voice,omitzero"`
	// in the words of the provider; left out when it accepts, or when its words are not known
	Error string `json:"error,omitzero"`
	// where it refuses: for a call without a result after it, the call; left out when the whole
	// request is meant
	Item   *int     `json:"item,omitzero"`
	Rules  []string `json:"rules,omitempty"` // rules whose findings are about the place
	Closed bool     `json:"closed,omitzero"` // true for a sub-session that is never sent to a model again, else left out
}

// ProfileNames are the names of those who judged the requests of a store.
func ProfileNames(r *check.Result) string {
	return strings.Join(lists.MapEach(check.UsedProfiles(r.Profiles), func(p *rules.Profile) string { return p.Name }), ",")
}
