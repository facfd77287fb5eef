package isolation

import (
	"path"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// fileResult is that a result of an agent was put into a file.
type fileResult struct {
	by   *rules.Subject
	item *session.Item
}

// fileResults are the results that were put outside of every workspace (the cache of
// loom-py, which all agents of a folder have), by file.
func fileResults(p *rules.Pass, owners map[string]*rules.Subject) map[string][]fileResult {
	results := map[string][]fileResult{}
	for _, s := range p.Subjects {
		for _, use := range files(s) {
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
func reportForeignResults(p *rules.Pass, s *rules.Subject, results map[string][]fileResult) {
	told := map[string]bool{}
	for _, use := range files(s) {
		if use.put || told[use.path] || isShared(p.Isolation(), use.path) {
			continue
		}
		from := foreignResult(results[use.path], s, &s.Items[use.item])
		if from == nil || toldFrom(p, s, use.path) <= use.item {
			continue
		}
		told[use.path] = true
		f := p.Find(s.Session, use.item)
		f.Nth = 3
		f.Related = []session.Place{from.At(-1)}
		f.Message = whoseName(s) + " uses " + rules.Quoted(path.Base(use.path)) + ", which holds a result of " + whoseName(from)
		f.Then("Nothing that it was told names this file")
		p.Report(f)
	}
}

// foreignResult is the agent whose result a file holds as an item of s uses it; nil
// where it is the agent's own, or where all results came later.
func foreignResult(results []fileResult, s *rules.Subject, at *session.Item) *rules.Subject {
	var from *rules.Subject
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
