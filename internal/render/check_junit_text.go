package render

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
)

// output are the findings that fail nothing, below their sessions, and what
// providers answer.
func (c *checkJUnit) output(s *collectedStore) string {
	if s.result == nil {
		return ""
	}
	var doc document.Document
	_, others := c.parted(s.result.Findings)
	shown, hidden := limit(others, c.MaxFindings)
	for i, f := range shown {
		if i == 0 || !sameSession(shown[i-1], f) {
			doc = append(doc, document.Gap{}, heading(f, junitWidth))
		}
		doc = append(doc, junitFinding(f))
	}
	doc = append(doc, hiddenLines(hidden))
	for i := range s.result.Answers {
		doc = append(append(doc, document.Gap{}), answer(&s.result.Answers[i])...)
	}
	return document.Unstyled(doc, junitWidth)
}

// junitWidth is the column at which texts are wrapped: the columns of a report in a
// browser are not known.
const junitWidth = 100

// listing are findings as the text format prints them.
func (c *checkJUnit) listing(findings []*check.Finding) string {
	doc := document.Document{document.Gap{}}
	shown, hidden := limit(findings, c.MaxFindings)
	for _, f := range shown {
		doc = append(doc, junitFinding(f))
	}
	return document.Unstyled(append(doc, hiddenLines(hidden)), junitWidth)
}

func junitFinding(f *check.Finding) document.Finding {
	found := findingOf(f, reported(f), true)
	found.Known = f.Known
	return found
}
