package render

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/ui"
)

// CheckWriter prints the results of a check, store by store.
type CheckWriter interface {
	// Store prints what was found in a store.
	Store(result *check.Result, took time.Duration) error
	// Unread takes note of a store that could not be read, or not to its end: then
	// its result follows. People have read it already.
	Unread(u Unread)
	// Close prints what concerns all stores.
	Close(end Ending) error
}

// Unread is a store that could not be read, or not to its end.
type Unread struct {
	Store    string `json:"store"`
	Message  string `json:"message"`
	Next     string `json:"next,omitzero"` // what to do now
	ExitCode int    `json:"exit_code"`
}

// Ending is what is known when all stores were looked at.
type Ending struct {
	ExitCode int
	Next     []Command // what to type next
	Baseline *Baseline // nil without one
}

// Baseline is what a run has to do with the findings of an earlier one.
type Baseline struct {
	Path  string `json:"path"`
	Known int    `json:"known"` // findings of this run that are in it
	Gone  int    `json:"gone"`  // entries whose finding is no longer there, where this run looked
	// Written: this run wrote it, with all that it found; nothing was compared.
	Written bool `json:"written,omitzero"`
}

// CheckOptions say how a check is printed.
type CheckOptions struct {
	Screen      *ui.Screen
	Tool        Tool
	Home        string // the folder that ~ stands for
	Quiet       bool   // findings only
	MaxFindings int    // of one rule and store, in the formats that people read; 0 for no limit
	Limited     bool   // not every session of the store was checked
	Several     bool   // more than one store was asked for
	Adopts      bool   // the run writes a baseline, so that everything is known behind it

	// Fails reports whether the run fails because of a finding.
	Fails func(*check.Finding) bool
	// Folder is the one that the run was started in, for paths that others resolve.
	Folder string
	// Started is when the run began.
	Started time.Time
	// StepSummary is where GitHub takes Markdown from, nil when it does not.
	StepSummary io.Writer
}

// CheckFormat is a format of a check.
type CheckFormat struct {
	Name  string
	Roots bool // it names every session, also those without findings: see check.Options.Roots
	new   func(CheckOptions) CheckWriter
}

// CheckFormats are all of them; the first is for people at a terminal.
var CheckFormats = []CheckFormat{
	{Name: "text", new: func(o CheckOptions) CheckWriter { return &checkText{CheckOptions: o, body: findingsText} }},
	{Name: "table", new: func(o CheckOptions) CheckWriter { return &checkText{CheckOptions: o, body: findingsTable} }},
	{Name: "json", new: func(o CheckOptions) CheckWriter { return &checkJSON{CheckOptions: o} }},
	{Name: "ndjson", new: func(o CheckOptions) CheckWriter { return &checkLines{checkJSON{CheckOptions: o}} }},
	{Name: "sarif", new: func(o CheckOptions) CheckWriter { return &checkSARIF{collected{CheckOptions: o}} }},
	{Name: "junit", Roots: true, new: func(o CheckOptions) CheckWriter { return &checkJUnit{collected{CheckOptions: o}} }},
	{Name: "github", new: func(o CheckOptions) CheckWriter { return &checkGitHub{collected{CheckOptions: o}} }},
	{Name: "markdown", new: func(o CheckOptions) CheckWriter { return &checkMarkdown{collected{CheckOptions: o}} }},
}

// FindCheckFormat is the format with a name, nil where there is none.
func FindCheckFormat(name string) *CheckFormat {
	for i := range CheckFormats {
		if CheckFormats[i].Name == name {
			return &CheckFormats[i]
		}
	}
	return nil
}

// CheckFormatNames are the names of all formats of a check.
func CheckFormatNames() []string {
	names := make([]string, len(CheckFormats))
	for i, f := range CheckFormats {
		names[i] = f.Name
	}
	return names
}

// Check makes the writer of a format.
func (f *CheckFormat) Check(opts CheckOptions) CheckWriter { return f.new(opts) }

// CheckWriters print the same results in several formats.
type CheckWriters []CheckWriter

// Store implements CheckWriter.
func (all CheckWriters) Store(result *check.Result, took time.Duration) error {
	var failed error
	for _, w := range all {
		failed = errors.Join(failed, w.Store(result, took))
	}
	return failed
}

// Unread implements CheckWriter.
func (all CheckWriters) Unread(u Unread) {
	for _, w := range all {
		w.Unread(u)
	}
}

// Close implements CheckWriter.
func (all CheckWriters) Close(end Ending) error {
	var failed error
	for _, w := range all {
		failed = errors.Join(failed, w.Close(end))
	}
	return failed
}

// collected keeps what was found for a format that is written as a whole: a
// CheckWriter but for its Close.
type collected struct {
	CheckOptions
	stores []*collectedStore
}

// collectedStore is a store that was looked at.
type collectedStore struct {
	path   string        // as it was named
	result *check.Result // nil where nothing could be read
	took   time.Duration
	// trouble is why the result is missing or does not cover everything, "" where it
	// does; next is what to do about that.
	trouble, next string
}

func (c *collected) Store(r *check.Result, took time.Duration) error {
	s := &collectedStore{path: r.Store.Path}
	if n := len(c.stores); n > 0 && c.stores[n-1].result == nil && c.stores[n-1].path == s.path {
		s = c.stores[n-1]
	} else {
		c.stores = append(c.stores, s)
	}
	s.result, s.took, s.trouble = r, took, cmp.Or(s.trouble, r.Incomplete)
	if r.Recovery != "" {
		s.next = cmp.Or(s.next, ui.Sentence(r.Recovery))
	}
	return nil
}

func (c *collected) Unread(u Unread) {
	c.stores = append(c.stores, &collectedStore{path: u.Store, trouble: u.Message, next: u.Next})
}

// findings are those of the store, also those of the baseline.
func (s *collectedStore) findings() []*check.Finding {
	if s.result == nil {
		return nil
	}
	return s.result.Findings
}

// troubleWords say on one line what kept a store from being read, and what to do.
func (s *collectedStore) troubleWords() string {
	return strings.TrimSpace(ui.Sentence(ui.Clean(s.trouble)) + " " + ui.Clean(s.next))
}

// summary is "1 error in 212 sessions of 2 stores, 1 of them not read completely, 3
// known findings left out".
func (c *collected) summary() string {
	var findings []*check.Finding
	sessions, troubled := 0, 0
	for _, s := range c.stores {
		findings = append(findings, s.findings()...)
		if s.result != nil {
			sessions += s.result.Trees
		}
		if s.trouble != "" {
			troubled++
		}
	}
	text := news(findings).String() + " in " + ui.Count(sessions, "session") + " of " + ui.Count(len(c.stores), "store")
	switch {
	case troubled > 0 && len(c.stores) == 1:
		text += ", which could not be read completely"
	case troubled > 0:
		text += ", " + ui.Number(troubled) + " of them not read completely"
	}
	return text + leftOut(findings)
}

// located is the path of a store for those who know the folder of the run: what is
// below it without it, with slashes on every system.
func (o *CheckOptions) located(path string) string {
	if path == "-" {
		return "standard input"
	}
	if below, err := filepath.Rel(o.Folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(below) {
		path = below
	}
	return filepath.ToSlash(filepath.Clean(path))
}
