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
	if words := r.CoverWords(); words != "" {
		m.line(words)
		m.line("")
	}
	for i := range r.Parts {
		m.part(&r.Parts[i])
	}
	m.line("")
	for _, text := range r.Verdict() {
		m.line(escaped(ui.Clean(text)))
		m.line("")
	}
}

func (m *markdown) part(p *view.Part) {
	head := "–"
	if p.Message >= 0 {
		head = "message " + strconv.Itoa(p.Message)
	}
	who := p.Role
	if p.Row.Item >= 0 {
		who = "item " + strconv.Itoa(p.Row.Item) + " " + p.Row.Who
	}
	flags := p.Row.Flags
	if p.Unsent {
		flags = append(flags[:len(flags):len(flags)], "not sent")
	}
	m.row(&p.Row, head+" **"+escaped(excerpt(who, 60))+"**", flags)
	m.below(func() {
		if p.Why != "" {
			m.line("- " + p.Why)
		}
		for _, f := range p.Rejected {
			m.line("- ✗ refused: " + code(strings.Join(append(f.Rules[:len(f.Rules):len(f.Rules)], f.Error), " ")))
		}
	})
}
