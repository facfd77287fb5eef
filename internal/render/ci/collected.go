// Package ci prints the reports of a check that are read elsewhere: SARIF, JUnit, the
// annotations of GitHub, and a page in Markdown.
package ci

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/ui"
)

// collected keeps what was found for a format that is written as a whole: a
// CheckWriter but for its Close.
type collected struct {
	render.CheckOptions
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

func (c *collected) Unread(u render.Unread) {
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
	text := render.News(findings).String() + " in " + ui.Count(sessions, "session") + " of " + ui.Count(len(c.stores), "store")
	switch {
	case troubled > 0 && len(c.stores) == 1:
		text += ", which could not be read completely"
	case troubled > 0:
		text += ", " + ui.Number(troubled) + " of them not read completely"
	}
	return text + render.LeftOut(findings)
}

// located is the path of a store for those who know the folder of the run: what is
// below it without it, with slashes on every system.
func (c *collected) located(path string) string {
	if path == "-" {
		return "standard input"
	}
	if below, err := filepath.Rel(c.Folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(below) {
		path = below
	}
	return filepath.ToSlash(filepath.Clean(path))
}
