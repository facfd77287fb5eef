package render

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// hidden counts the findings of one rule that --max-findings left out.
type hidden struct {
	rule     *rules.Rule
	findings int
	sessions map[string]bool
}

func (h *hidden) sentence(width int) string { return ui.Hang("", "  ", h.words(), width) }

func (h *hidden) words() string {
	where := ""
	if len(h.sessions) > 0 {
		where = " in " + ui.Count(len(h.sessions), "session")
	}
	return fmt.Sprintf("…and %s more of %s %s%s (all of them: --max-findings 0)", ui.Number(h.findings), h.rule.ID, h.rule.Name, where)
}

// limit keeps up to n findings of each rule.
func limit(findings []*check.Finding, n int) (shown []*check.Finding, left []*hidden) {
	if n == 0 {
		return findings, nil
	}
	counts, byRule := map[*rules.Rule]int{}, map[*rules.Rule]*hidden{}
	for _, f := range findings {
		if counts[f.Rule]++; counts[f.Rule] <= n {
			shown = append(shown, f)
			continue
		}
		h := byRule[f.Rule]
		if h == nil {
			h = &hidden{rule: f.Rule, sessions: map[string]bool{}}
			byRule[f.Rule] = h
			left = append(left, h)
		}
		h.findings++
		if f.Session != "" {
			h.sessions[f.Session] = true
		}
	}
	return shown, left
}
