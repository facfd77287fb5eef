package render

import (
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// request prints what the next run sends.
func (m *markdown) request(r *view.Request) {
	m.line("## What the next run sends")
	m.line("")
	m.line(escaped(ui.Sentence(ui.Clean(r.Head()))))
	m.line("")
	if words := r.Preface(); words != "" {
		m.line(words)
		m.line("")
	}
	for i := range r.Parts {
		m.part(r, &r.Parts[i])
	}
	m.line("")
	for _, text := range r.Verdict() {
		m.line(escaped(ui.Clean(text)))
		m.line("")
	}
}

func (m *markdown) part(r *view.Request, p *view.Part) {
	head := "–"
	switch {
	case p.Last > p.Message:
		head = "messages " + messageNumbers(p)
	case p.Message >= 0:
		head = "message " + messageNumbers(p)
	}
	if p.Role != "" {
		head += " " + p.Role
	}
	if p.Row.Item >= 0 {
		head += " **" + escaped(ui.Excerpt(strings.TrimSpace("item "+strconv.Itoa(p.Row.Item)+" "+p.Row.Who), 60)) + "**"
	}
	flags := p.Row.Flags
	if p.Unsent {
		flags = append(flags[:len(flags):len(flags)], "not sent")
	}
	m.row(&p.Row, head, flags)
	m.below(func() {
		if p.Why != "" {
			m.line("- " + p.Why)
		}
		for i := range p.Adjusted {
			m.line("- ~ adjusted: " + code(p.Adjusted[i].Words(r)))
		}
		for _, name := range p.Renamed {
			m.line("- ~ sent as: " + code(name.From) + " → " + code(name.To))
		}
		for i := range p.Rejected {
			m.line("- ✗ " + code(p.Rejected[i].Words(r.Profile)))
		}
	})
}
