package rules

import (
	"path"

	"github.com/sessctl/sessctl/internal/session"
)

// fileResult is that a result of an agent was put into a file.
type fileResult struct {
	by   *Subject
	item *session.Item
}

// fileResults are the results that were put outside of every workspace (the cache of
// loom-py, which all agents of a folder have), by file.
func (p *Pass) fileResults(owners map[string]*Subject) map[string][]fileResult {
	results := map[string][]fileResult{}
	for _, s := range p.Subjects {
		for _, use := range s.files() {
			if use.put && ownerOf(owners, use.path) == nil {
				results[use.path] = append(results[use.path], fileResult{s, &s.Items[use.item]})
			}
		}
	}
	return results
}

// reportForeignResults tells of files outside of every workspace that a call of the
// agent names, that another agent's result was put into before and none of its own, and
// that nothing named that the agent was told.
func (p *Pass) reportForeignResults(s *Subject, results map[string][]fileResult) {
	told := map[string]bool{}
	for _, use := range s.files() {
		if use.put || told[use.path] || p.isolation().isShared(use.path) {
			continue
		}
		from := foreignResult(results[use.path], s, &s.Items[use.item])
		if from == nil || p.toldFrom(s, use.path) <= use.item {
			continue
		}
		told[use.path] = true
		f := p.find(s.Session, use.item)
		f.Nth = 3
		f.Related = []session.Place{from.At(-1)}
		f.Message = s.whoseName() + " uses " + quoted(path.Base(use.path)) + ", which holds a result of " + from.whoseName() +
			", and nothing that it was told names it"
		p.Report(f)
	}
}

// foreignResult is the agent whose result a file holds as an item of s uses it; nil
// where it is the agent's own, or where all results came later.
func foreignResult(results []fileResult, s *Subject, at *session.Item) *Subject {
	var from *Subject
	for _, r := range results {
		switch {
		case !at.Time.IsZero() && r.item.Time.After(at.Time):
		case r.by == s || isOneAgent(r.by, s):
			return nil
		case from == nil:
			from = r.by
		}
	}
	return from
}
