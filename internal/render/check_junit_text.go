package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/sessctl/sessctl/internal/check"
)

// output are the findings that fail nothing, below their sessions, and what
// providers answer.
func (c *checkJUnit) output(s *collectedStore) string {
	if s.result == nil {
		return ""
	}
	var out strings.Builder
	_, others := c.parted(s.result.Findings)
	shown, hidden := limit(others, c.MaxFindings)
	for i, f := range shown {
		if i == 0 || !sameSession(shown[i-1], f) {
			out.WriteString("\n" + c.heading(f, junitWidth) + "\n")
		}
		junitFinding(&out, f)
	}
	for _, h := range hidden {
		out.WriteString(h.sentence(junitWidth))
	}
	for i := range s.result.Answers {
		out.WriteString("\n")
		answer(&out, &s.result.Answers[i], junitWidth)
	}
	return ansi.Strip(out.String())
}

// junitWidth is the column at which texts are wrapped: the columns of a report in a
// browser are not known.
const junitWidth = 100

// listing are findings as the text format prints them.
func (c *checkJUnit) listing(findings []*check.Finding) string {
	var out strings.Builder
	out.WriteString("\n")
	shown, hidden := limit(findings, c.MaxFindings)
	for _, f := range shown {
		junitFinding(&out, f)
	}
	for _, h := range hidden {
		out.WriteString(h.sentence(junitWidth))
	}
	return ansi.Strip(out.String())
}

func junitFinding(out *strings.Builder, f *check.Finding) {
	findingText(out, f, place(f), reported(f), junitWidth)
	out.WriteString(refusal(f, junitWidth))
	if f.Known {
		out.WriteString("    (known: it stands in the baseline)\n")
	}
}
