package render

import (
	"fmt"
	"slices"
	"time"

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

func (h *hidden) words() string {
	where := ""
	if len(h.sessions) > 0 {
		where = " in " + ui.Count(len(h.sessions), "session")
	}
	return fmt.Sprintf("…and %s more of %s %s%s (all of them: --max-findings 0)", ui.Number(h.findings), h.rule.ID, h.rule.Name, where)
}

// limit keeps up to n findings of each rule: those of the newest sessions, and of one
// session the first. They keep their order.
func limit(findings []*check.Finding, n int) (shown []*check.Finding, left []*hidden) {
	if n == 0 {
		return findings, nil
	}
	byRule := map[*rules.Rule]*hidden{}
	newest := slices.Clone(findings)
	slices.SortStableFunc(newest, func(a, b *check.Finding) int { return made(b).Compare(made(a)) })
	counts, kept := map[*rules.Rule]int{}, map[*check.Finding]bool{}
	for _, f := range newest {
		counts[f.Rule]++
		kept[f] = counts[f.Rule] <= n
	}
	for _, f := range findings {
		if kept[f] {
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

// made is when the conversation of a finding began. What concerns the store as a whole
// comes before all sessions.
func made(f *check.Finding) time.Time {
	if f.Root == nil {
		return time.Unix(1<<60, 0)
	}
	return f.Root.Created
}
