package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkMarkdown prints a report for a pull request, a ticket or a mail.
type checkMarkdown struct{ collected }

func (c *checkMarkdown) Close(end Ending) error {
	_, err := io.WriteString(c.Screen.Plain(), c.page(end).out.String())
	return err
}

// checkPage is a report that is being written.
type checkPage struct {
	markdown
	*collected
	// stores and rows are the places in the text at which stores and findings begin.
	begins, rows []int
}

// page is the whole report.
func (c *collected) page(end Ending) *checkPage {
	p := &checkPage{collected: c}
	p.line("## " + escaped(c.Tool.Name+" check"))
	p.line("")
	p.line(escaped(c.summary()) + ".")
	if end.Baseline != nil {
		p.line("")
		p.line(escaped(end.Baseline.sentence()))
	}
	for _, s := range c.stores {
		p.begins = append(p.begins, p.out.Len())
		p.store(s)
	}
	if len(end.Next) > 0 {
		p.line("")
		p.line("### Next")
		p.line("")
		p.line(nothing(end.Baseline) + " was changed. Type:")
		p.line("")
	}
	for _, n := range end.Next {
		p.line("- " + code(n.Line) + ": " + escaped(n.Why))
	}
	return p
}

func (p *checkPage) store(s *collectedStore) {
	p.line("")
	p.line("### " + code(p.located(s.path)))
	p.line("")
	if s.trouble != "" {
		p.line("**Not read completely:** " + escaped(s.troubleWords()))
	}
	if s.result == nil {
		return
	}
	if s.trouble != "" {
		p.line("")
	}
	facts := p.facts(s.result)
	if judges := judges(s.result.Profiles); judges != "" {
		facts += "; " + judges
	}
	p.line(escaped(facts))
	p.line("")
	fresh := check.Fresh(s.result.Findings)
	if len(fresh) == 0 {
		p.line(news(s.result.Findings).String() + leftOut(s.result.Findings) + ".")
	} else {
		p.counts(fresh)
		p.findings(fresh)
		for _, advice := range s.result.Store.Advice {
			p.line("")
			p.line(escaped(advice))
		}
	}
	for i := range s.result.Answers {
		p.answer(&s.result.Answers[i])
	}
}

// counts is a table of the rules, the worst first.
func (p *checkPage) counts(findings []*check.Finding) {
	type count struct {
		rule     *rules.Rule
		severity rules.Severity
		findings int
		sessions map[string]bool
	}
	var all []*count
	for _, f := range findings {
		at := slices.IndexFunc(all, func(c *count) bool { return c.rule == f.Rule && c.severity == f.Severity })
		if at < 0 {
			at = len(all)
			all = append(all, &count{rule: f.Rule, severity: f.Severity, sessions: map[string]bool{}})
		}
		all[at].findings++
		if f.Root != nil {
			all[at].sessions[f.Root.ID] = true
		}
	}
	slices.SortStableFunc(all, func(a, b *count) int { return int(b.severity) - int(a.severity) })
	p.line("| Severity | Rule | Findings | Sessions |")
	p.line("|---|---|--:|--:|")
	for _, c := range all {
		p.line(fmt.Sprintf("| %s | %s | %s | %s |", c.severity, ruleLink(c.rule), ui.Number(c.findings), ui.Number(len(c.sessions))))
	}
	p.line("")
}

// widestPlace keeps places with hundreds of items from filling a page.
const widestPlace = 60

// findings is a table of the findings, of which --max-findings limits those of one
// rule.
func (p *checkPage) findings(findings []*check.Finding) {
	shown, hidden := limit(findings, p.MaxFindings)
	p.line("| Severity | Rule | Place | Finding |")
	p.line("|---|---|---|---|")
	for _, f := range shown {
		p.rows = append(p.rows, p.out.Len())
		words := escaped(ui.Ended(ui.Clean(reported(f))))
		for _, c := range consequences(f) {
			words += "<br>→ " + escaped(c.String())
		}
		p.line(fmt.Sprintf("| %s | %s | %s | %s |", f.Severity, ruleLink(f.Rule), cell(ui.Truncate(place(f), widestPlace)), words))
	}
	for _, h := range hidden {
		p.line("")
		p.line(escaped(h.words()))
	}
}

// answer is what a provider says to the next request of the session.
func (p *checkPage) answer(a *check.Answer) {
	p.line("")
	p.line("#### The next request, to " + escaped(a.Profile.Name))
	p.line("")
	p.line(escaped(strings.Join(answerSentences(a), " ")))
	if a.Error != "" {
		p.line("")
		p.line("> " + escaped(a.Error))
	}
}

// rulePages is where the pages of rules are.
const rulePages = "https://github.com/sessctl/sessctl/blob/main/docs/rules/"

func ruleLink(r *rules.Rule) string {
	return "[" + r.ID + "](" + rulePages + r.ID + ".md) " + escaped(r.Name)
}

// cell is code in a table. A vertical bar would end the cell, and a code span has no
// escape for it that all renderers know.
func cell(text string) string {
	if strings.Contains(text, "|") {
		return "<code>" + escaped(text) + "</code>"
	}
	return code(text)
}
